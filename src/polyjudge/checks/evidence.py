"""What each check of a text looked at, and what it found: for a person who wants to know why, or why not."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from polyjudge.languages.table import LanguageTable
from polyjudge.records.findings import CheckedText, Finding, TextCheck
from polyjudge.text.segments import running_text, word_texts

from .catalogue import check_names, known_findings
from .completeness import sentence_count, usual_length_share
from .numbers import number_texts
from .policy import CheckPolicy
from .preservation import preserved_parts

_NEEDS_SOURCE = {"copies", "completeness", "numbers", "preservation", "punctuation"}
_MOST_NUMBERS = 8


class Evidence(Struct, frozen=True):
    """What one check says of a text."""

    check: str
    outcome: str
    """`pass`, the highest severity of its findings, `unsure`, or `not checked`."""
    detail: str


def evidence_of(checked: CheckedText, found: TextCheck, table: LanguageTable, policy: CheckPolicy) -> list[Evidence]:
    """Return what each built-in check looked at, in the order of the checks."""
    return [_evidence(name, checked, found, table, policy) for name in check_names()]


def _evidence(name: str, checked: CheckedText, found: TextCheck, table: LanguageTable, policy: CheckPolicy) -> Evidence:
    kinds = [kind for kind, known in known_findings().items() if known.check == name]
    if not any(policy.wants(kind, name) for kind in kinds):
        return Evidence(name, "not checked", "Switched off.")
    if name in _NEEDS_SOURCE and not checked.source.strip():
        return Evidence(name, "not checked", "There is no source to compare with.")
    if name == "reference" and not checked.reference.strip():
        return Evidence(name, "not checked", "There is no reference translation.")
    own = [problem for problem in found.problems if problem.kind in kinds]
    outcome = _outcome(name, own, found)
    return Evidence(name, outcome, _DETAILS[name](checked, found, table))


def _outcome(name: str, own: Sequence[Finding], found: TextCheck) -> str:
    if own:
        return min((problem.severity for problem in own), key=["fail", "warn", "info"].index)
    if name == "language":
        return "pass" if found.language.state == "right" else "unsure"
    if name == "reference" or (name == "script" and found.script.state == "unknown"):
        return "not checked"
    return "pass"


def _script(checked: CheckedText, found: TextCheck, table: LanguageTable) -> str:
    del table
    scripts = " or ".join(checked.language.scripts)
    if found.script.share is None:
        return "The text has no letters that count."
    return f"{found.script.share:.0%} of the letters are in {scripts}."


def _language(checked: CheckedText, found: TextCheck, table: LanguageTable) -> str:
    guess = table.find(found.language.found) if found.language.found else None
    name = guess.name if guess else found.language.found
    wanted = checked.language.name
    if not name:
        return f"Too short, or too close to other languages, to tell whether it is {wanted}."
    together = "Identified alone"
    if found.language.state == "right":
        return f"Identified as {wanted}, confidence {found.language.confidence:.2f}. {together}."
    return f"Most like {name}, confidence {found.language.confidence:.2f}; {wanted} was asked for. {together}."


def _copies(checked: CheckedText, found: TextCheck, table: LanguageTable) -> str:
    del found, table
    ours, theirs = word_texts(running_text(checked.text)), set(word_texts(running_text(checked.source)))
    shared = sum(word in theirs for word in ours)
    return f"{shared} of {len(ours)} words are in the source as well, names included."


def _loops(checked: CheckedText, found: TextCheck, table: LanguageTable) -> str:
    del found, table
    texts = [word.casefold() for word in word_texts(checked.text)]
    return f"{len(set(texts))} different words of {len(texts)}."


def _completeness(checked: CheckedText, found: TextCheck, table: LanguageTable) -> str:
    del found, table
    share = usual_length_share(checked.text, checked.source)
    ours, theirs = sentence_count(checked.text), sentence_count(checked.source)
    return f"{share:.0%} of the usual length; {ours} ends of sentences, {theirs} in the source."


def _leaks(checked: CheckedText, found: TextCheck, table: LanguageTable) -> str:
    del found, table
    lines = len(list(filter(str.strip, checked.text.splitlines())))
    prompt = "the prompt was compared" if checked.prompt.strip() else "no prompt to compare with"
    return f"{lines} {'line' if lines == 1 else 'lines'}; {prompt}."


def _numbers(checked: CheckedText, found: TextCheck, table: LanguageTable) -> str:
    del found, table
    wanted, given = number_texts(checked.source), number_texts(checked.text)
    return f"In the source: {_named(wanted)}. In the text: {_named(given)}."


def _named(numbers: Sequence[str]) -> str:
    shown = ", ".join(numbers[:_MOST_NUMBERS]) + (" …" if len(numbers) > _MOST_NUMBERS else "")
    return shown or "no numbers"


def _preservation(checked: CheckedText, found: TextCheck, table: LanguageTable) -> str:
    del found, table
    wanted, given = preserved_parts(checked.source), preserved_parts(checked.text)
    parts = [f"{name} {wanted[name]} → {given[name]}" for name in wanted if wanted[name] or given[name]]
    return f"From source to text: {', '.join(parts)}." if parts else "No placeholders, tags, addresses or mentions."


def _punctuation(checked: CheckedText, found: TextCheck, table: LanguageTable) -> str:
    del found, table
    return f"The source ends with {checked.source.rstrip()[-1:]!r}, the text with {checked.text.rstrip()[-1:]!r}."


def _reference(checked: CheckedText, found: TextCheck, table: LanguageTable) -> str:
    del checked, table
    said = [problem.message for problem in found.problems if problem.kind == "reference_agreement"]
    return f"{said[0]}." if said else "Not measured: it needs polyjudge[metrics]."


_DETAILS: dict[str, Callable[[CheckedText, TextCheck, LanguageTable], str]] = {
    "script": _script,
    "language": _language,
    "copies": _copies,
    "loops": _loops,
    "completeness": _completeness,
    "leaks": _leaks,
    "numbers": _numbers,
    "preservation": _preservation,
    "punctuation": _punctuation,
    "reference": _reference,
}
