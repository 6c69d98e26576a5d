"""Run all checks on a text, as the judge `offline`, `translation check` and reports do."""

from dataclasses import dataclass

from msgspec.structs import replace

from polyjudge.languages.table import LanguageTable
from polyjudge.records.findings import LanguageCheck, Problem, TextCheck
from polyjudge.records.translation import Language, LanguageResult

from .degeneration import copied, cut_off, leaked, length, looping
from .language import language_identifier
from .preservation import lost_parts
from .script import check_script, is_blank


@dataclass(frozen=True, slots=True)
class TextChecker:
    """Checks texts in the languages of one table."""

    table: LanguageTable

    def check(self, text: str, language: Language, *, source: str = "", prompt: str = "") -> TextCheck:
        """Return what can be said of a text that should be in a language and, if given, say what the source says."""
        script = check_script(text, language, source)
        identity = self.check_language(text, language)
        problems = list(script.problems)
        has_text = not is_blank(text)
        if has_text:
            problems += [*leaked(text, source, prompt), *looping(text, source)]
        if has_text and source.strip():
            if not self._is_in(source, language):
                problems += [self._weighed(problem, text, language) for problem in copied(text, source)]
            problems += [*cut_off(text, source, language.tag), *length(text, source), *lost_parts(text, source)]
        if any(problem.kind == "source_copied" and problem.severity == "warn" for problem in problems):
            identity = replace(identity, state="unsure")  # a name is of any language
        if identity.state == "wrong" and script.state != "fail":
            name = self._name(identity.found)
            problems.append(Problem("wrong_language", f"this looks like {name}, not {language.name}"))
        return TextCheck(script=script, language=identity, problems=tuple(problems))

    def check_outputs(self, language: LanguageResult) -> list[TextCheck | None]:
        """Return the check of each output of a language; None for all where the table does not have the language."""
        known = self.table.find(language.language_code, language.language_name)
        return [
            self.check(each.generated_output, known, source=each.source_text, prompt=each.prompt) if known else None
            for each in language.prompts
        ]

    def check_language(self, text: str, language: Language) -> LanguageCheck:
        """Say whether a text is in a language, by its words alone."""
        return language_identifier(self.table).check(text, language)

    def _weighed(self, problem: Problem, text: str, language: Language) -> Problem:
        """Return words left from the source as a warning where they may be of both languages: `café está demasiado`."""
        if problem.kind != "untranslated" or problem.severity == "warn":
            return problem
        state = self.check_language(text[problem.start : problem.end], language).state
        return problem if state == "wrong" else replace(problem, severity="warn")

    def _is_in(self, source: str, language: Language) -> bool:
        """Say whether the source is in the language asked for already, so that it may well stand as it is."""
        return language_identifier(self.table).guess(source) == (language.detector or language.tag)

    def _name(self, tag: str) -> str:
        found = self.table.find(tag)
        return found.name if found else tag
