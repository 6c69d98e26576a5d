"""Ask a judge whether a model knows a word, and parse the reply: one of two words, in the language of the question."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from importlib.resources import files
from itertools import pairwise
from typing import Literal, NamedTuple

from msgspec import Struct

from polyjudge.errors import DataError, UnknownNameError, UnreadableReplyError
from polyjudge.providers.base import Provider
from polyjudge.records.codec import from_json
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Item, Outcome
from polyjudge.records.requests import Reply
from polyjudge.records.vocabulary import PromptName
from polyjudge.rubrics.prompts import fence

from . import base
from .asking import Asker, Question, Reading, ReplyLimit
from .reply_text import without_reasoning

WordVerdict = Literal["correct", "incorrect", "undetermined"]

_ACCENT = re.compile("[\u0300-\u036f]")
_MARKUP = re.compile(r"```\w*\n|\\[a-zA-Z]+(?=\{)|[*_`#\"'“”‘’«»„]")
_TAG = re.compile(r"<[^<>\n]{0,100}>|~~|->")
_CROSSES = "❌✗✘👎"
_ASKING = ":?="
"""Characters after a verdict that is a question, or the name of a value."""
_BARE = re.compile(r"(?<![\w+#°])[^\W\d_](?![\w+#°])")
"""A single letter, not part of a name such as C1 or C++."""
_NUMBER = "#"
"""Replaces any number among words."""
_LONGEST = 20_000
"""Characters that are parsed: a verdict is the first word, and its retraction is near it."""
_REACH = 4
"""Maximum words from a negation to the verdict that it negates."""
_CORRECTIONS = (
    "更正",
    "订正",
    "訂正",
    "修正",
    "정정",
    "исправление",
    "korrektur",
    "correction",
    "correccion",
    "correcao",
    "correzione",
)
"""Words that announce a correction, for questions in any language."""
_QUOTED = re.compile(r"[\s*_#]*[\"'“„«‘‚「]\s*[^\W\d_]+\s*[\"'”“»’」][ \t]+([^\W\d_]+)")
"""A quotation of one word at the start of a sentence."""
_ECHO = re.compile(r"\W*<text-[0-9a-f]{32}>")
_FENCE_LINE = re.compile(r"\s*(?:`{3,}|~{3,})\w*\s*")
_ECHOED_WORDS = 3
"""Minimum words of a first line that is repeated from the question."""


class WordWording(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The question about a word in one language, and the words for parsing the reply."""

    note: str
    """Explains that fenced text is material."""
    judge_prompt_a: str
    judge_prompt_b: str
    correct: tuple[str, ...]
    """Possible starts of the verdict."""
    incorrect: tuple[str, ...]
    others: tuple[str, ...] = ()
    """Words that start like a verdict but are none."""
    correct_letter: str = ""
    incorrect_letter: str = ""
    negations: tuple[str, ...] = ()
    not_denying: tuple[str, ...] = ()
    """Words that cancel a negation before them: not *only*."""
    copulas: tuple[str, ...] = ()
    """Words of which a clause that asserts a verdict must have one, unless it is only the verdict."""
    leads: tuple[str, ...] = ()
    """Other words that are allowed in a clause that only asserts a verdict."""
    joints: tuple[str, ...] = ()
    """Words that start a new clause."""
    thats: tuple[str, ...] = ()
    """Those of them that start the subject of the clause before: correct *that* …"""
    denies_after: bool = False
    """A negation may follow the verdict in its clause."""
    opposites: tuple[str, ...] = ()
    """Starts of words or phrases that mean "incorrect"."""
    doubts: tuple[str, ...] = ()
    """Words or phrases that make the verdict conditional, partial or hypothetical."""
    retractions: tuple[str, ...] = ()
    """Words or phrases that announce another verdict, or none."""
    affirmations: tuple[str, ...] = ()
    """Words that answer a verdict in the form of a question."""


class WordReading(NamedTuple):
    """The verdict of a reply."""

    verdict: WordVerdict
    contradictory: bool = False
    """The reply gives both verdicts."""

    @property
    def problem(self) -> str:
        """The reason why there is no verdict; empty if there is one."""
        if self.verdict != "undetermined":
            return ""
        return "the reply contradicts itself" if self.contradictory else "the reply gives neither verdict"


class _Clause(NamedTuple):
    words: list[str]
    ended_by: str
    """The characters after it, or the word that starts the next clause."""


def wording_languages() -> list[str]:
    """Return the languages of the shipped wordings."""
    return sorted(entry.name.removesuffix(".toml") for entry in (files("polyjudge.judges") / "words").iterdir())


@lru_cache(maxsize=16)
def load_wording(language: str) -> WordWording:
    """Return the shipped wording for a language."""
    if language not in wording_languages():
        raise UnknownNameError("language of a judge's wording", language, wording_languages())
    text = (files("polyjudge.judges") / "words" / f"{language}.toml").read_text(encoding="utf-8")
    try:
        return from_json(WordWording, tomllib.loads(text))
    except DataError as error:
        raise DataError(str(error), path=f"{language}.toml") from None


def read_word_verdict(text: str, wording: WordWording, prompt: str = "") -> WordReading:
    """Return the verdict of the first word of a reply, unless the rest retracts it.

    A first word that is a quotation, or in a line repeated from `prompt`, is no verdict.
    """
    answer = without_reasoning(text)[:_LONGEST]
    plain = _plain(answer)
    bare = _BARE.search(plain) if sum(map(str.isalpha, plain)) == 1 else None
    if bare and bare[0] in (wording.correct_letter, wording.incorrect_letter):
        return WordReading("correct" if bare[0] == wording.correct_letter else "incorrect")
    clauses = list(_clauses(plain, wording))
    first_word = next((clause.words[0] for clause in clauses if clause.words != [_NUMBER]), None)
    first = None if first_word is None else _side(first_word, wording)
    if first is None:
        return WordReading("undetermined")
    if _Rest(first, clauses, wording).retracts():
        return WordReading("undetermined", contradictory=True)
    if _is_quoted(answer, wording) or _is_echo(answer, prompt) or _is_unclear(clauses, first, wording):
        return WordReading("undetermined")
    return WordReading("correct" if first else "incorrect")


def _is_quoted(answer: str, wording: WordWording) -> bool:
    """Return whether a reply starts with a quotation and has more text: a quoted verdict alone is the judge's own."""
    quoted = _QUOTED.match(answer)
    if quoted and _plain(quoted[1]) not in _plain_all(wording.joints):
        return True
    lines = answer.strip().splitlines()
    if lines and _FENCE_LINE.fullmatch(lines[0]):
        start = next((number for number, line in enumerate(lines) if line and not _FENCE_LINE.fullmatch(line)), 0)
        end = next((number for number in range(start, len(lines)) if _FENCE_LINE.fullmatch(lines[number])), len(lines))
        rest = [line for line in lines[end:] if not _FENCE_LINE.fullmatch(line)]
    elif lines and lines[0].lstrip().startswith(">"):
        rest = [line for line in lines if not line.lstrip().startswith(">")]
    else:
        return bool(_ECHO.match(answer))
    return any(map(str.isalpha, "".join(rest)))


def _is_echo(answer: str, prompt: str) -> bool:
    """Return whether the first line of a reply is repeated from the question."""
    line = answer.strip().partition("\n")[0]
    words = re.findall(r"\w+", line.casefold())
    return len(words) >= _ECHOED_WORDS and " ".join(words) in " ".join(re.findall(r"\w+", prompt.casefold()))


def _is_unclear(clauses: list[_Clause], first: bool, wording: WordWording) -> bool:
    """Return whether a verdict is a question, hypothetical, partial, only mentioned, or the name of a value."""
    start = next(place for place, clause in enumerate(clauses) if clause.words != [_NUMBER])
    clause, after = clauses[start], (clauses[start + 1 : start + 2] or [_Clause([], "")])[0]
    words, next_word = clause.words, (after.words or [""])[0]
    is_affirmed = next_word in _plain_all(wording.affirmations) or _side(next_word, wording) is first
    if "?" in clause.ended_by and not is_affirmed:
        return True
    is_named = any(sign in clause.ended_by for sign in ":=")
    if _NUMBER in words[1:2] or (is_named and after.words == [_NUMBER]) or (is_named and first and len(words) > 1):
        return True
    asserting = _plain_all(wording.leads) | _plain_all(wording.copulas) | _plain_all(wording.negations)
    if set(words[1:2]) & _plain_all(wording.copulas):
        return bool(set(words[1:]) - asserting) or clause.ended_by in _plain_all(wording.thats)
    return _has_phrase(words, wording.doubts) or (len(after.words) == 1 and _has_phrase(after.words, wording.doubts))


def _has_phrase(words: list[str], phrases: tuple[str, ...]) -> bool:
    text = f" {' '.join(words)} "
    return any(f" {phrase} " in text for phrase in _plain_all(phrases))


class _Rest:
    """The text after a verdict, which may give the other one.

    A "correct" is retracted by any "incorrect" after it. An "incorrect" is retracted only by a clause that only says
    "correct", because judges then explain what would be correct.
    """

    def __init__(self, first: bool, clauses: list[_Clause], wording: WordWording) -> None:
        self._first = first
        self._clauses = clauses
        self._wording = wording
        self._negations = _plain_all(wording.negations)

    def retracts(self) -> bool:
        start = next(place for place, clause in enumerate(self._clauses) if clause.words != [_NUMBER])
        opening = self._clauses[start]
        is_crossed = self._first and len(opening.words) == 1 and any(sign in _CROSSES for sign in opening.ended_by)
        if is_crossed or self._denied(opening.words, 0, self._first):
            return True
        return any(self._is_other(place, place == start) for place in range(start, len(self._clauses)))

    def _is_other(self, place: int, is_first: bool) -> bool:
        clause = self._clauses[place]
        if not is_first and self._is_plain_no(place):
            return True
        words = clause.words[1:] if is_first else clause.words
        if _has_phrase(words, self._wording.retractions) or (not is_first and _has_phrase(words, _CORRECTIONS)):
            return True
        for number, word in enumerate(clause.words):
            side = False if self._is_opposite(clause.words, number) else _side(word, self._wording)
            if side is None or (is_first and number == 0):
                continue
            if (side != self._denied(clause.words, number, side)) != self._first and self._counts(place, number):
                return True
        return False

    def _is_opposite(self, words: list[str], place: int) -> bool:
        """Return whether other words for "incorrect" start here; they only retract a "correct"."""
        text = " ".join(words[place:])
        return self._first and text.startswith(tuple(_plain_all(self._wording.opposites)))

    def _is_plain_no(self, place: int) -> bool:
        """Return whether a clause is only "no" after a "correct", or after a verdict in the form of a question."""
        clause, wording = self._clauses[place], self._wording
        asserting = _plain_all(wording.leads) | _plain_all(wording.copulas)
        if self._first and set(clause.words) & self._negations and set(clause.words) & _plain_all(wording.copulas):
            return set(clause.words) <= asserting | self._negations  # it is not, no lo es
        is_no = bool(clause.words) and clause.words[0] in self._negations and "?" not in clause.ended_by
        asked = place > 0 and any(sign in _ASKING for sign in self._clauses[place - 1].ended_by)
        is_after_verdict = place > 0 and _side(self._clauses[place - 1].words[0], self._wording) is not None
        return is_no and ((self._first and len(clause.words) == 1) or (asked and is_after_verdict and place == 1))

    def _denied(self, words: list[str], place: int, side: bool) -> bool:
        before = words[max(0, place - _REACH) : place]
        if self._denies(before, words[place]):
            return True
        if self._wording.denies_after:
            return self._denies(words[place + 1 :], "")
        return side and self._denies(words[place + 1 : place + 2], next(iter(words[place + 2 :]), ""))

    def _denies(self, words: list[str], following: str) -> bool:
        softened = _plain_all(self._wording.not_denying)
        return any(word in self._negations and after not in softened for word, after in pairwise([*words, following]))

    def _counts(self, place: int, number: int) -> bool:
        """Return whether a verdict after an "incorrect" is one: its clause has no other content."""
        if self._first:
            return True
        clause, wording = self._clauses[place], self._wording
        others = [word for each, word in enumerate(clause.words) if each != number]
        if any(sign in _ASKING for sign in clause.ended_by) or clause.ended_by in _plain_all(wording.thats):
            return False
        if not others:
            before = self._clauses[place - 1] if place else None
            is_item = before is not None and (before.words == [_NUMBER] or ":" in before.ended_by)
            return not is_item or set(before.words if before else []) <= _plain_all(wording.leads)
        known = _plain_all(wording.leads) | self._negations | _plain_all(wording.copulas)
        return bool(set(others) & _plain_all(wording.copulas)) and set(others) <= known


def _side(word: str, wording: WordWording) -> bool | None:
    """Return the verdict of a word, if any; "incorrect" is checked first, in case one starts like the other."""
    if word in _plain_all(wording.others):
        return None
    if word.startswith(tuple(_plain_all(wording.incorrect))):
        return False
    if not word.startswith(tuple(_plain_all(wording.correct))):
        return None
    return None if any(stem in word for stem in _plain_all(wording.incorrect)) else True


def _clauses(plain: str, wording: WordWording) -> Iterator[_Clause]:
    """Yield the clauses, which end at punctuation or before a joint; text without spaces is one word."""
    joints, thats = _plain_all(wording.joints), _plain_all(wording.thats)
    has_started = False
    for part in re.finditer(r"([^|]+)([| ]*)", "".join(map(_letter_or_gap, plain))):
        words: list[str] = []
        for word in part[1].split():
            if word in joints | thats and words and has_started:
                if word in thats and words[0] in _plain_all(wording.negations):  # Hindi: न कि, and not
                    continue
                yield _Clause(words, word)
                words = []
            elif word not in joints | thats or not has_started:
                words.append(_NUMBER if word.isdecimal() else word)
                has_started |= not word.isdecimal()
        if words:
            yield _Clause(words, plain[part.start(2) : part.end()])


def _letter_or_gap(letter: str) -> str:
    """Return a letter unchanged, a space for a separator of words, and | for a separator of clauses."""
    kind = unicodedata.category(letter)
    if kind[0] in "LMN":
        return letter
    return " " if kind in ("Zs", "Pd") or letter == "\t" else "|"


def _plain(text: str) -> str:
    """Return text without differences of case, accents, width, markup and invisible characters."""
    marked = _TAG.sub("|", _MARKUP.sub(" ", unescape(text)))
    visible = "".join(letter for letter in marked if unicodedata.category(letter) != "Cf")
    return _ACCENT.sub("", unicodedata.normalize("NFKD", visible)).casefold().lstrip("| \t\n")


@lru_cache(maxsize=256)
def _plain_all(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(_plain, words))


PLACEHOLDERS = ("word", "reference_definition", "model_response", "prompt")
_PLACEHOLDER = re.compile(rf"\{{({'|'.join(PLACEHOLDERS)})\}}")
_REPLY_LIMIT = ReplyLimit(local=512, remote=4096)


class WordJudge:
    """Asks in one language whether an answer shows that a model knows a word.

    The reply is one word. `max_tokens` limits it; the default is 512 tokens for a local model, 4,096 for a vendor's.
    """

    bind = base.bind
    aclose = base.aclose
    models = property(base.models)

    def __init__(
        self, wording: WordWording, model: str, provider: Provider | None = None, *, max_tokens: int | None = None
    ) -> None:
        self._wording = wording
        self.asker = Asker(model, provider=provider, max_tokens=max_tokens, limit=_REPLY_LIMIT)
        self.fingerprint = fingerprint([wording], 16)

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:  # noqa: ARG002 - asked once
        """Judge an item of a run whose candidate is the complete prompt."""
        return await self.outcome(item.candidate)

    async def outcome(self, prompt: str) -> Outcome:
        """Return the verdict on a prompt from `word_prompt`, or a failure with its reason."""
        question = Question(prompt, None, "vocabulary", self.fingerprint)
        return await self.asker.outcome(question, lambda reply: self._read(reply, prompt))

    def _read(self, reply: Reply, prompt: str) -> Reading:
        reading = read_word_verdict(reply.text, self._wording, prompt)
        if reading.verdict == "undetermined":
            raise UnreadableReplyError(reading.problem, text=reply.text)
        score = float(reading.verdict == "correct")
        return {"score": score, "reason": "", "verdict": reading.verdict, "parse_method": "first word"}


def word_prompt(wording: WordWording, name: PromptName, *, word: str, reference: str, response: str, task: str) -> str:
    """Return the judge's prompt; the model's answer is fenced, and braces in any value are plain text."""
    template = wording.judge_prompt_a if name == "a" else wording.judge_prompt_b
    values = {"word": word, "reference_definition": reference, "model_response": fence(response), "prompt": task}
    return f"{wording.note}\n\n{_PLACEHOLDER.sub(lambda match: values[match[1]], template)}"
