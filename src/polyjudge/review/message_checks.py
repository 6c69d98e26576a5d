"""Check the messages of a file, with the rules of its format: what is wrong, and where."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from polyjudge.checks.accepted import AcceptedFindings
from polyjudge.checks.catalogue import known_findings
from polyjudge.checks.checker import TextChecker
from polyjudge.checks.policy import CheckPolicy
from polyjudge.languages.table import LanguageTable
from polyjudge.records.findings import CheckedText, Finding, TextCheck
from polyjudge.records.messages import Catalogue, Message
from polyjudge.records.translation import Language

from .accelerators import accelerator_findings, accelerator_places
from .addresses import address_findings
from .characters import character_findings, doubled_words, length_findings
from .edges import edge_findings
from .glossary import Glossary
from .language_facts import base_of
from .markup import markup_findings
from .placeholder_checks import placeholder_findings
from .plain_text import PlainText, plain_text
from .plural_checks import plural_findings
from .punctuation import punctuation_findings
from .text_findings import (
    OF_COPIES,
    OF_LENGTH,
    FileFacts,
    Part,
    as_in_message,
    copy_finding,
    is_kept,
    made_part,
    near_languages,
    own_letters,
)
from .usual_lengths import UsualLengths

_USUAL = 0.3
"""Share of the labels with a shortcut in the source from which a file has shortcuts."""
_SURE_POOL = 0.5
"""Share of a file's messages that must look like another language for the short ones to fail."""
_FEWEST_TOGETHER = 3
"""Short texts that must be in another language together."""
_KEPT_OFTEN = 3
"""Messages of a file that keep a word of the source, from which it is a name."""
_OF_LENGTH = {*OF_LENGTH, "cut_off"}
_CREDITS = {"translator-credits", "translator_credits", "Your names", "Your emails", "NAME OF TRANSLATORS"}
"""Sources that ask for the names of the translators."""


class MessageFinding(NamedTuple):
    """A finding in a message; None for the file as a whole."""

    message: Message | None
    finding: Finding
    line: int = 1
    """Of the file, where there is no message."""
    problem: str = ""
    """What the reader of the file said, if the finding comes from there."""


@dataclass(frozen=True, slots=True)
class MessageChecker:
    """Checks the messages of files in the languages of one table."""

    table: LanguageTable
    policy: CheckPolicy = field(default_factory=CheckPolicy)
    glossary: Glossary | None = None

    def findings(self, catalogue: Catalogue) -> Iterator[MessageFinding]:
        """Yield what is to be said about a file and its messages, with the severities of the policy."""
        language = self.table.find(catalogue.file.language)
        for found in self._all(catalogue, language):
            wanted = self.policy.wanted(found.finding)
            if wanted is not None:
                yield found._replace(finding=wanted)

    def _all(self, catalogue: Catalogue, language: Language | None) -> Iterator[MessageFinding]:
        yield from _of_form(catalogue)
        if language is None:
            return
        parts = [
            made_part(each) for each in catalogue.messages if is_shown(each) and each.source.strip() not in _CREDITS
        ]
        has_shortcuts, lengths = _has_shortcuts(parts), UsualLengths(parts)
        for part, text_check in zip(parts, self._text_checks(parts, catalogue, language), strict=True):
            for finding in text_check:
                yield MessageFinding(part.message, finding)
            if _OF_LENGTH.isdisjoint(finding.kind for finding in text_check):
                for finding in lengths.findings(part):
                    yield MessageFinding(part.message, finding)
            for finding in self._own(part, language, catalogue.file.format, has_shortcuts=has_shortcuts):
                yield MessageFinding(part.message, finding)

    def _own(self, part: Part, language: Language, form: str, *, has_shortcuts: bool) -> Iterator[Finding]:
        """Yield the findings of the checks of messages."""
        message, plain = part.message, part.plain
        text, source = message.translation, message.source
        yield from length_findings(text, message.max_length)
        yield from character_findings(text, source, language)
        found = [*doubled_words(plain.text, part.source, language)]
        if source:
            yield from placeholder_findings(message, language.tag)
            yield from markup_findings(text, source)
            yield from address_findings(text, source)
            if part.mark:
                yield from accelerator_findings(text, source, is_usual=has_shortcuts)
            yield from edge_findings(text, source, language=language.tag, format=form)
            if plain.text.strip():
                ends_alike = plain.ends_with_words and plain_text(source, part.mark).ends_with_words
                found += punctuation_findings(plain.text, part.source, language, ends_alike=ends_alike)
            if self.glossary is not None:
                found += self.glossary.findings(plain.text, part.source, language)
        for finding in found:
            yield _placed(finding, plain)

    def _text_checks(
        self, parts: Sequence[Part], catalogue: Catalogue, language: Language
    ) -> Iterator[Sequence[Finding]]:
        """Yield the findings of the checks of any text in each message, as they count in a message."""
        if not any(self.policy.wants(kind, known.check) for kind, known in known_findings().items()):
            yield from ([] for _ in parts)  # identifying languages takes most of the time
            return
        checker = TextChecker(self.table, policy=without_accepted(self.policy))
        own = [part for part in parts if not part.is_copy]
        texts = [CheckedText(text=part.plain.text, language=language, source=part.source) for part in own]
        found = checker.check_together(texts)
        groups = _groups(found)
        doubtful = {
            place
            for group in groups.values()
            if len(group) > 1 and not _are_in_another(group, texts, found, checker)
            for place in group
        }
        is_same = base_of(catalogue.file.source_language or "en") == base_of(language.tag)
        file = _file_facts(own, found, groups, doubtful, language, catalogue.file.source_language)
        checks = iter(enumerate(found))
        for part in parts:
            if part.is_copy:
                copied = None if is_same else copy_finding(part)
                yield [copied] if copied else []
                continue
            place, check = next(checks)
            counted = (
                as_in_message(finding, part, check, file)
                for finding in check.problems
                if not (is_same and finding.kind in OF_COPIES)
                and not (finding.kind == "wrong_language" and place in doubtful)
            )
            yield [_placed(each, part.plain) for each in counted if each is not None]


def _groups(found: Sequence[TextCheck]) -> dict[int, list[int]]:
    """Return the places of the texts whose language was identified together, by the identity of the result."""
    groups = defaultdict[int, list[int]](list)
    for place, each in enumerate(found):
        groups[id(each.language)].append(place)
    return groups


def _file_facts(
    parts: Sequence[Part],
    found: Sequence[TextCheck],
    groups: Mapping[int, Sequence[int]],
    doubtful: Collection[int],
    language: Language,
    source: str,
) -> FileFacts:
    """Return what the findings in a message need of its file; texts of a file in another language prove it together."""
    others = [place for place, each in enumerate(found) if each.language.state == "wrong" and place not in doubtful]
    is_other = len(others) >= max(2, _SURE_POOL * len(found))
    proof = {id(found[place].language): others for place in others} if is_other else {}
    together = {name: places for name, places in groups.items() if len(places) > 1} | proof
    return FileFacts(
        names=_names(parts, found),
        letters={name: sum(own_letters(parts[each]) for each in of) for name, of in together.items()},
        pooled=frozenset() if is_other else frozenset(together),
        near=near_languages(language),
        source=base_of(source or "en"),
    )


def _are_in_another(
    group: Sequence[int], texts: Sequence[CheckedText], found: Sequence[TextCheck], checker: TextChecker
) -> bool:
    """Say whether short texts that were identified together are in another language without the longer ones, too.

    One wrong sentence in a small file would make all labels beside it wrong.
    """
    if len(group) < _FEWEST_TOGETHER or found[group[0]].language.state != "wrong":
        return False
    together = checker.check_language_of([texts[place].text for place in group], texts[group[0]].language)
    return together.state == "wrong"


def _names(parts: Sequence[Part], found: Sequence[TextCheck]) -> frozenset[str]:
    """Return words of the source that several translations of a file keep: names of programs and formats."""
    kept = Counter(
        part.plain.text[each.start : each.end]
        for part, check in zip(parts, found, strict=True)
        for each in check.problems
        if each.kind in ("untranslated_word", "mixed_script") and is_kept(each, part)
    )
    return frozenset(word for word, count in kept.items() if count >= _KEPT_OFTEN)


def _of_form(catalogue: Catalogue) -> Iterator[MessageFinding]:
    """Yield what can be said without knowing the language: what its reader noted, plural forms, and states."""
    for line, problem in catalogue.problems:
        text = f"{problem[0].upper()}{problem[1:].removesuffix('.')}."
        yield MessageFinding(None, Finding("file_problem", "warn", text), line, problem)
    empty = set[int]()
    for message, finding in plural_findings(catalogue):
        empty.add(id(message))
        yield MessageFinding(message, finding)
    for message in (*catalogue.messages, *catalogue.missing):
        if id(message) not in empty and (finding := _state_finding(message)):
            yield MessageFinding(message, finding)


def without_accepted(policy: CheckPolicy) -> CheckPolicy:
    """Return a policy without accepted findings: those of messages have fingerprints of their own."""
    return CheckPolicy(policy.only, policy.skipped, policy.settings, AcceptedFindings())


def is_shown(message: Message) -> bool:
    """Say whether a reader sees the translation: it is there, and is not to be confirmed first."""
    return bool(message.translation.strip()) and message.state in ("translated", "needs_review")


def _has_shortcuts(parts: Sequence[Part]) -> bool:
    """Say whether most labels of a file that may have a shortcut have one."""
    may = [part for part in parts if part.mark]
    have = sum(bool(accelerator_places(part.message.translation, part.mark)) for part in may)
    return have > _USUAL * len(may)


def _state_finding(message: Message) -> Finding | None:
    if message.state == "fuzzy":
        return Finding("needs_review", "info", "Marked as fuzzy: programs do not show it until a person confirms it.")
    if message.state == "needs_review":
        return Finding("needs_review", "info", "Marked as needing review.")
    if not message.translation.strip() and message.source.strip():
        return Finding("not_translated", "info", "Not translated.")
    return None


def _placed(finding: Finding, plain: PlainText) -> Finding:
    """Return a finding in the words of a message with its place in the message."""
    if finding.start is None or not plain.places:
        return finding
    end = finding.start if finding.end is None else finding.end
    return replace(finding, start=plain.original(finding.start), end=plain.original(max(end - 1, 0)) + 1)
