"""Run all checks on a text, as `check`, the judge `offline`, `translation check` and reports do."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from polyjudge.errors import ConfigError
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.findings import CheckedText, Finding, LanguageCheck, ScriptCheck, TextCheck
from polyjudge.records.translation import Language, LanguageResult, PromptResult

from .completeness import corroborated, cut_off, length, missing_sentences
from .degeneration import copied, kept_words, looping, repeated_phrases
from .language import Identified, language_identifier
from .language_together import identified_together
from .leaks import added_lines, leaked, remarks_in_english
from .plugin_checks import PluginCheck, plugin_checks
from .policy import CheckPolicy
from .preservation import lost_parts
from .punctuation import broken_punctuation, changed_marks
from .reference import chrf
from .script import check_script, is_accepted, is_blank

_UNLIKELY_WORD = 0.25
"""Likelihood of a word in the language asked for, against that of the source, below which it was left."""
_WORDS_NAMED = 3


class CheckedAlone(NamedTuple):
    """What can be said of one of several texts before the others are known."""

    identity: LanguageCheck
    plain: str
    """The words by which the language is identified."""
    script: ScriptCheck
    problems: tuple[Finding, ...]
    """What is wrong whatever the language is."""
    of_plugins: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class TextChecker:
    """Checks texts in the languages of one table."""

    table: LanguageTable
    plugins: tuple[PluginCheck, ...] = field(default_factory=plugin_checks)
    policy: CheckPolicy = field(default_factory=CheckPolicy)

    def check(
        self, text: str, language: Language, *, source: str = "", prompt: str = "", reference: str = ""
    ) -> TextCheck:
        """Return what can be said of a text that should be in a language and, if given, say what the source says."""
        return self.check_text(
            CheckedText(text=text, language=language, source=source, prompt=prompt, reference=reference)
        )

    def check_text(self, checked: CheckedText, more: Sequence[Finding] = ()) -> TextCheck:
        """Return what can be said of a text, with findings from elsewhere, to which the policy applies as well."""
        [alone] = self.check_alone([checked])
        return self._completed(checked, alone, alone.identity, more=more)

    def check_alone(self, texts: Sequence[CheckedText]) -> list[CheckedAlone]:
        """Return what can be said of each of several texts before their languages are identified together.

        First all languages are identified, and then all else is looked at, which takes a tenth less time than one text
        after the other: the tables of the identifier are large.
        """
        identifier = language_identifier(self.table)
        found = [identifier.identified(each.text, each.language, each.source) for each in texts]
        return [self._checked_alone(*pair) for pair in zip(texts, found, strict=True)]

    def _checked_alone(self, checked: CheckedText, found: Identified) -> CheckedAlone:
        text, language, source = checked.text, checked.language, checked.source
        script = check_script(text, language, source)
        problems = list(script.problems)
        if not is_blank(text):
            problems += [*leaked(text, source, checked.prompt), *looping(text, source)]
            if source.strip():
                compared = list(corroborated(list(self._compared(text, language, source, script))))
                problems += [each for each in compared if not _is_found(each, problems)]
        return CheckedAlone(*found, script, tuple(problems), tuple(self._of_plugins(checked)))

    def _completed(
        self,
        checked: CheckedText,
        alone: CheckedAlone,
        identity: LanguageCheck,
        pooled: int = 0,
        *,
        more: Sequence[Finding] = (),
    ) -> TextCheck:
        """Return the check of a text whose language is known, alone or together with `pooled` texts."""
        language, script, problems = checked.language, alone.script, list(alone.problems)
        if any(problem.kind == "source_copied" and problem.severity == "warn" for problem in problems):
            identity = replace(identity, state="unsure")  # a name is of any language
        script_fails = script.state == "fail" and self.policy.wants("wrong_script", "script")
        if identity.state == "wrong" and not script_fails:
            other = self.table.find(identity.found)
            together = f" (identified together with {pooled - 1} other outputs of this language)" if pooled > 1 else ""
            message = f"Wrong language: {other.name if other else identity.found}, not {language.name}{together}."
            problems.append(Finding("wrong_language", "fail", message))
        elif identity.strange_share and not script_fails:
            message = (
                f"Language unclear: {identity.strange_share:.0%} of its parts look like another language than "
                f"{language.name}."
            )
            problems.append(Finding("unclear_language", "fail", message))
        problems += [*alone.of_plugins, *more]
        found = TextCheck(script=script, language=identity, problems=tuple(problems))
        return self.policy.applied(found, checked)

    def _of_plugins(self, checked: CheckedText) -> Iterator[Finding]:
        for each in self.plugins:
            if self.policy.wants(each.plugin.name):
                yield from self.policy.of_plugin(each.plugin.name, each.findings(checked))

    def _compared(self, text: str, language: Language, source: str, script: ScriptCheck) -> Iterator[Finding]:
        """Find what the source shows to be wrong."""
        yield from added_lines(text, source)
        if script.state != "fail" and language_identifier(self.table).can_weigh(language, "en"):
            yield from remarks_in_english(text, source, language_identifier(self.table).is_surely_english)
        left = list(copied(text, source))
        if left and not self._is_in(source, language):
            yield from (self._weighed(problem, text, language) for problem in left)
        if not left:
            yield from self._untranslated_words(text, language, source)
        yield from cut_off(text, source, language.tag)
        yield from missing_sentences(text, source, language.tag)
        yield from length(text, source)
        yield from lost_parts(text, source)
        yield from broken_punctuation(text, source, language.tag)
        yield from changed_marks(text, source)
        yield from repeated_phrases(text, source)

    def check_outputs(self, language: LanguageResult) -> list[TextCheck | None]:
        """Return the check of each output of a language; None for all where the table does not have the language."""
        known = self.table.find(language.language_code, language.language_name)
        if known is None:
            return [None] * len(language.prompts)
        return [*self.check_together([checked_output(each, known) for each in language.prompts])]

    def check_together(self, texts: Sequence[CheckedText]) -> list[TextCheck]:
        """Return the check of each of several texts in one language; short ones are identified together."""
        if not texts:
            return []
        return list(self.completed(texts, self.check_alone(texts), texts[0].language))

    def completed(
        self, texts: Iterable[CheckedText], alone: Sequence[CheckedAlone], language: Language
    ) -> Iterator[TextCheck]:
        """Yield the check of each of several texts in one language that were checked alone; they are read in order."""
        pools = list[tuple[LanguageCheck, int]]()
        pool_of = array("l", bytes(array("l").itemsize * len(alone)))  # the number of each text's pool, from 1
        for places, identity in identified_together(alone, partial(self._check_words, language=language)):
            pools.append((identity, len(places)))
            for place in places:
                pool_of[place] = len(pools)
        for number, checked, each in zip(pool_of, texts, alone, strict=True):
            identity, count = pools[number - 1] if number else (each.identity, 0)
            yield self._completed(checked, each, identity, count)

    def _check_words(self, plain: str, language: Language) -> LanguageCheck:
        return language_identifier(self.table).check_words(plain, language)

    def check_language(self, text: str, language: Language) -> LanguageCheck:
        """Say whether a text is in a language, by its words alone."""
        return language_identifier(self.table).check(text, language)

    def check_language_of(self, texts: Sequence[str], language: Language) -> LanguageCheck:
        """Say whether several texts that belong together are in a language, from their words taken together."""
        return language_identifier(self.table).check("\n".join(texts), language)

    def _weighed(self, problem: Finding, text: str, language: Language) -> Finding:
        """Return words left from the source as a warning where they may be of both languages: `café está demasiado`."""
        if problem.kind != "untranslated" or problem.severity == "warn":
            return problem
        state = self.check_language(text[problem.start : problem.end], language).state
        return problem if state == "wrong" else replace(problem, severity="warn")

    def _untranslated_words(self, text: str, language: Language, source: str) -> Iterator[Finding]:
        """Find words that were left as they are in the source and look like words of its language: a warning."""
        kept = [word for word in kept_words(text, source) if is_accepted(word.text, language)]
        if not kept:
            return
        identifier = language_identifier(self.table)
        theirs = identifier.guess(source)
        if not identifier.can_weigh(language, theirs):
            return
        left = [word for word in kept if identifier.likelihood_of(word.text, language, theirs) <= _UNLIKELY_WORD]
        if left:
            named = ", ".join(repr(word.text) for word in left[:_WORDS_NAMED])
            yield Finding("untranslated_word", "warn", f"Left untranslated: {named}.", left[0].start, left[0].end)

    def _is_in(self, source: str, language: Language) -> bool:
        """Say whether the source is in the language asked for already, so that it may well stand as it is."""
        return language_identifier(self.table).guess(source) == (language.detector or language.tag)


def checked_output(output: PromptResult, language: Language) -> CheckedText:
    """Return an output of a translator as the checks take it."""
    return CheckedText(
        text=output.generated_output,
        language=language,
        source=output.source_text,
        prompt=output.prompt,
        reference=output.reference,
    )


def _is_found(finding: Finding, others: Sequence[Finding]) -> bool:
    """Say whether another finding of this kind is at the same place already."""
    start, end = finding.start, finding.end
    return (
        start is not None
        and end is not None
        and any(
            each.kind == finding.kind and each.start is not None and each.start < end and start < (each.end or 0)
            for each in others
        )
    )


def check(
    text: str, *, language: str | Language, source: str = "", reference: str = "", prompt: str = ""
) -> list[Finding]:
    """Check a text without a model: its script and language, degeneration, and what of the source is lost.

    `language` is a BCP 47 tag or a name of the language table. `source` is what the text is a translation of, `prompt`
    the instructions to the model. With a `reference`, the agreement with it is one of the findings, of severity `info`,
    if sacreBLEU is installed. The checks of plugins are run too.
    """
    table = language_table()
    known = language if isinstance(language, Language) else table.find(language)
    if known is None:
        close = table.suggestion(str(language))
        raise ConfigError(f"{language!r} is not in the language table. Give a tag or name, or add a row.{close}")
    found = TextChecker(table).check(text, known, source=source, prompt=prompt, reference=reference)
    return [*found.problems, *reference_agreement(text, reference)]


def reference_agreement(text: str, reference: str) -> Iterator[Finding]:
    """Find how much a text agrees with a reference translation, if sacreBLEU is installed."""
    if reference and text.strip() and (score := chrf(text, reference)) is not None:
        yield Finding("reference_agreement", "info", f"chrF++ {score:.0f} against the reference")
