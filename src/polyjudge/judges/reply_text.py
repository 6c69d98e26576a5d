"""Extract the judge's own answer from a reply, without other turns and reasoning; find its JSON objects and lines.

A judge's reply is text with JSON somewhere in it, and may contain other braces and quotes. Trying a parser at every
brace is quadratic: each try may read to the end before it fails. Here every brace is tried once as the start of an
object. When an attempt fails, all objects that are still open fail for the same reason, and the closed ones inside it
are kept. Only braces inside the attempt's strings are tried again. Since a position is either inside or outside a
string, no position is visited by more than two attempts.
"""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

_REASONING = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis", "<|channel|>final"),
)
_CLOSED_BY = {opening.lower(): closing.lower() for opening, closing in _REASONING}
_MARK = re.compile("|".join(re.escape(mark) for pair in _REASONING for mark in pair), re.IGNORECASE | re.ASCII)
_FENCE = re.compile(r"<(/?)text-([0-9a-f]{32})>")
_BEFORE_MARK = 80
"""Maximum characters before a mark on its line, which may only be quotes and emphasis."""


def without_reasoning(text: str) -> str:
    """Return `text` without quoted fences and reasoning."""
    return split_reasoning(_without_fences(text))[0]


def _without_fences(text: str) -> str:
    """Remove fenced texts; a mark without its counterpart is kept."""
    marks = list(_FENCE.finditer(text))
    last_end = {match[2]: match.start() for match in marks if match[1]}
    kept: list[str] = []
    position, open_hash = 0, ""
    for match in marks:
        if not open_hash and not match[1] and last_end.get(match[2], 0) > match.start():
            kept.append(text[position : match.start()])
            open_hash = match[2]
        elif match[1] and match[2] == open_hash:
            position, open_hash = match.end(), ""
    return "".join(kept) + text[position:]


def split_reasoning(text: str, *, in_prose: bool = False) -> tuple[str, str]:
    """Return the answer and the reasoning of a reply.

    An unclosed mark makes everything after it reasoning, a closing mark alone everything before it. Text around a
    verdict may mention a mark, so a mark must start or end a line; if the answer itself is prose, it may be anywhere.
    """
    kept: list[str] = []
    reasoning: list[str] = []
    position, closing = 0, ""
    marks = list(_marks(text))
    last = {match[0].lower(): match.start() for match in marks}
    for match in marks:
        mark = match[0].lower()
        if not closing and mark in _CLOSED_BY:
            is_pair = in_prose and last.get(_CLOSED_BY[mark], -1) > match.start()
            if is_pair or _opens_a_line(text, match):
                kept.append(text[position : match.start()])
                position, closing = match.end(), _CLOSED_BY[mark]
        elif mark not in _CLOSED_BY and (closing == mark or (not closing and (in_prose or _ends_a_line(text, match)))):
            if not closing:
                reasoning += kept
                kept.clear()
            reasoning.append(text[position : match.start()])
            position, closing = match.end(), ""
    (reasoning if closing else kept).append(text[position:])
    return "".join(kept), "\n".join(part.strip() for part in reasoning if part.strip())


def _marks(text: str) -> Iterator[re.Match[str]]:
    """Yield the reasoning marks outside JSON objects; inside, they are only mentioned."""
    if not _MARK.search(text):
        return
    objects: list[Span] = find_objects(text)
    starts = [start for start, _ in objects]
    for match in _MARK.finditer(text):
        before = bisect_right(starts, match.start()) - 1
        if before < 0 or match.start() >= objects[before][1]:
            yield match


def _opens_a_line(text: str, match: re.Match[str]) -> bool:
    """Return whether a mark starts its line; text that only mentions `<think>` has words before it."""
    if match[0].startswith("<|"):
        return True
    start = text.rfind("\n", max(0, match.start() - _BEFORE_MARK), match.start()) + 1
    starts_here = start > 0 or match.start() <= _BEFORE_MARK
    return starts_here and not text[start : match.start()].strip(" \t\u00a0\ufeff>*_`")


def _ends_a_line(text: str, match: re.Match[str]) -> bool:
    """Return whether a closing mark without an opening one is followed by an answer, not the rest of a sentence."""
    after = text[match.end() : match.end() + _BEFORE_MARK]
    line = after.partition("\n")[0].strip()
    return not line or line[0] in '{[`"<'


Span = tuple[int, int]

_SPACE = r"[ \t\r\n]*"
_STRING = r"""\"[^\"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^\"\\\x00-\x1f]*)*\""""
_START = re.compile(rf"\{{(?={_SPACE}{_STRING}{_SPACE}:)")
_TOKEN = re.compile(
    rf"""{_SPACE}(?:
        ([{{}}\[\],:])
      | ({_STRING})
      | (-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.]) | true | false | null)
    )""",
    re.VERBOSE,
)
_DEEPEST = 64
"""Maximum nesting of a verdict; deeper, the outermost objects are discarded, and the inner ones are still found."""

# A state is the kind of container and what it expects: an object's key, colon, value or the character after it, an
# array's value or the character after it. In "first" the container may also end.
_NEXT = {
    # (token, state): the next state
    ("string", "{ first"): "{ colon",
    ("string", "{ key"): "{ colon",
    (":", "{ colon"): "{ value",
    ("string", "{ value"): "{ after",
    ("scalar", "{ value"): "{ after",
    (",", "{ after"): "{ key",
    ("string", "[ first"): "[ after",
    ("scalar", "[ first"): "[ after",
    ("string", "[ value"): "[ after",
    ("scalar", "[ value"): "[ after",
    (",", "[ after"): "[ value",
}
_OPENS = {(mark, state) for mark in "{[" for state in ("{ value", "[ first", "[ value")}
_CLOSES = {("}", "{ first"), ("}", "{ after"), ("]", "[ first"), ("]", "[ after")}


def find_objects(text: str) -> list[Span]:
    """Return start and end of every outermost, strict, non-empty JSON object in `text`."""
    return list(_found_objects(text))


@lru_cache(maxsize=2)  # one reply is searched several times in a row
def _found_objects(text: str) -> tuple[Span, ...]:
    found: list[Span] = []
    tried: set[int] = set()
    position = 0
    while match := _START.search(text, position):
        start = match.start()
        position = start + 1
        if start not in tried:
            position = max(position, _attempt(text, start, tried, found))
    return tuple(_outermost(found))


def _attempt(text: str, start: int, tried: set[int], found: list[Span]) -> int:
    """Read one object from `start`, collect the objects closed in it, and return its end, or 0 if it fails."""
    tried.add(start)
    stack: list[tuple[str, int]] = [("{", start)]
    state = "{ first"
    place = start + 1
    while token := _TOKEN.match(text, place):
        place = token.end()
        step = token[1] or ("string" if token[2] else "scalar"), state
        if step in _NEXT:
            state = _NEXT[step]
        elif step in _OPENS:
            stack.append((step[0], place - 1))
            tried.add(place - 1)
            state = f"{step[0]} first"
            del stack[:-_DEEPEST]
        elif step in _CLOSES:
            kind, opened = stack.pop()
            if kind == "{" and state != "{ first":
                found.append((opened, place))
            if not stack:
                return place
            state = f"{stack[-1][0]} after"
        else:
            return 0
    return 0


def _outermost(spans: list[Span]) -> list[Span]:
    outermost: list[Span] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not outermost or start >= outermost[-1][1]:
            outermost.append((start, end))
    return outermost


def decode(text: str) -> object:
    """Return the value of a text that is strict JSON; raise `ValueError` for any other.

    Strict JSON has no NaN, no infinity, and no key given twice with different values.
    """
    value, end = _STRICT.raw_decode(text) if text[:1] in "{[" else (None, -1)
    return value if end == len(text) else _STRICT.decode(text)


def unfenced(text: str) -> str:
    """Return the content of the code fence around the whole text, or the text itself."""
    if not (text.startswith("```") and text.endswith("```") and len(text) > 6):
        return text
    first_line, _, rest = text[3:-3].partition("\n")
    names_a_language = re.fullmatch(r"\s*\w*\s*", first_line) is not None
    return (rest if names_a_language else text[3:-3]).strip()


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not a number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is too large")
    return value


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        for key, each in pairs:
            if json.dumps(each) != json.dumps(value[key]):
                raise ValueError(f"{key!r} is given twice with different values")
    return value


# Created once: with these options `json.loads` would create one for every reply.
_STRICT = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_without_doubles)

_ROLE = r"(?:user|human|system|assistant|model|tool|ipython|developer|bot|gpt)"
_TURN_TOKEN = re.compile(
    rf"""<[|｜](?:im_start|im_end|im_sep|eot_id|eom_id|end_of_text|endoftext|begin_of_text|start_header_id|end_header_id
        |start|end|return|call|user|human|system|assistant|bot|model|endofturn|end▁of▁sentence|begin▁of▁sentence|eot
        |User|Assistant|END_OF_TURN_TOKEN|START_OF_TURN_TOKEN|eoa|eos|endofprompt|turn)[|｜]>
      | </?s>(?=\s*(?:\Z|\n|<|\[)) | <s>(?=\s*\[INST\]) | \[/?INST\] | <</?SYS>> | <(?:start|end)_of_turn>{_ROLE}?
      | <(?:eos|bos)> | <turn\|> | <\|turn> | (?m:^[ \t]*\#\#\#[ \t]*(?:Instruction|Input|User|Human|System)\b[ \t]*:?)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OPENING = re.compile(
    rf"(?:\s*(?:{_TURN_TOKEN.pattern}))*\s*(?:{_ROLE}\b[ \t]*:?[ \t]*\n)?", re.VERBOSE | re.IGNORECASE
)
_NEXT_MESSAGE = re.compile(r"\s*<\|start\|>\s*assistant", re.IGNORECASE)
_CHANNEL = re.compile(r"<\|(?:channel|message)\|>", re.IGNORECASE)
_SPEAKER = re.compile(
    r"^[ \t]*(?:\*\*)?(?:User|Human|System|Usuario|Usuário|Utilisateur|Utente|Benutzer|Nutzer|Gebruiker|Пользователь"
    r"|Користувач|Użytkownik|Kullanıcı|用户|用戶|使用者|ユーザー|사용자|المستخدم|کاربر|صارف|उपयोगकर्ता"
    r"|प्रयोक्ता|ব্যবহারকারী|Người dùng|ผู้ใช้|Pengguna|Mtumiaji|Χρήστης|משתמש)(?:\*\*)?[ \t]*[:：]",
    re.MULTILINE,
)
_ASKING = re.compile(rf"{_SPEAKER.pattern}|^[ \t]*Q(?:uestion)?[ \t]*:", re.MULTILINE)
_ANSWERING = re.compile(
    r"^[ \t#>*_]*(?:Assistant|A|Answer|AI|Model|Bot|ChatGPT|Asistente|Assistente|Assistent|Ассистент|Асистент|Помощник"
    r"|Asystent|Asistan|助手|助理|アシスタント|어시스턴트|المساعد|مساعد|सहायक|সহকারী|Trợ lý|ผู้ช่วย"
    r"|Asisten|Msaidizi)[ \t*_]*[:：][*_\s]*(?:```\w*\s*)?\Z",
    re.MULTILINE | re.IGNORECASE,
)
"""The line of the answering speaker directly before an object."""
_ANOTHER_SPEAKER = re.compile(r"(?:user|human|system|developer|tool|ipython)\b|\[INST\]|<<SYS>>", re.IGNORECASE)
_TURN_MARKS = ("<", "[INST", "[/INST", "[inst", "[/inst", "###")
"""One of these is in every token."""
_FAR = 200
"""Characters before an object that are searched for the line of a speaker."""
_QUOTES = "`\"'“”‘’«»「」"


def first_turn(text: str) -> str:
    """Return `text` up to the first token of a chat template that ends the turn, or to a line of another speaker.

    Tokens at the start of the reply are skipped. Tokens inside JSON objects, in quotation marks or within a sentence
    are only mentioned. A speaker's name counts only after an object, since text before it may quote a dialogue.
    """
    tokens = list(_TURN_TOKEN.finditer(text)) if any(mark in text for mark in _TURN_MARKS) else []
    if not tokens and not _ASKING.search(text):
        return text
    if _CHANNEL.search(text):
        tokens = [token for token in tokens if not _joins_messages(text, token)]
    opening = _OPENING.match(text)
    start = opening.end() if opening and tokens and tokens[0].start() < opening.end() else 0
    if opening and _ANOTHER_SPEAKER.search(text, 0, start):
        return ""  # all of it is an invented turn of someone else
    objects = find_objects(text)
    starts = [span[0] for span in objects]
    first_end = objects[0][1] if objects else len(text)
    asked = _ASKING.search(text, start)
    if objects and asked and _is_invented(text, asked, objects[0][0]):
        return text[start : asked.start()]
    for match in sorted(chain(tokens, _SPEAKER.finditer(text, first_end)), key=lambda each: each.start()):
        before = bisect_right(starts, match.start()) - 1
        is_inside = before >= 0 and match.start() < objects[before][1]
        if match.start() >= start and not is_inside and not _is_mentioned(text, match):
            return text[start : match.start()]
    return text[start:]


def _is_invented(text: str, asked: re.Match[str], answer: int) -> bool:
    """Return whether an object is the answer to a question that the reply itself has invented before it."""
    return asked.start() < answer and _ANSWERING.search(text[max(0, answer - _FAR) : answer]) is not None


def _joins_messages(text: str, token: re.Match[str]) -> bool:
    """Return whether a token only separates the messages of one turn, as between reasoning and answer."""
    follows = token[0].lower() == "<|end|>" and _NEXT_MESSAGE.match(text, token.end()) is not None
    return follows or (token[0].lower() == "<|start|>" and _NEXT_MESSAGE.match(text, token.start()) is not None)


def _is_mentioned(text: str, match: re.Match[str]) -> bool:
    """Return whether a token is in quotation marks, or has words before and after it on its line."""
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    if before and before in _QUOTES and after and after in _QUOTES:
        return True
    return match[0][:1] in "<[" and before == " " and after == " " and text[match.end() : match.end() + 2][1:].isalpha()


_AFTER_VALUE = re.compile(r"(?<=[\w])[.。।]\Z")
_LINE_EMPHASIS = " \t*_`#|•\"'“”«»"
_LINE_MARKUP = _LINE_EMPHASIS + "-–—"
"""What may precede a label or follow a value. A dash before a value may be its sign and is kept."""
_SIGN = re.compile(r"\A[-−–－](?=\d)")
_QUOTED_LINE = ">＞"
"""A line that begins so quotes another text."""
_BEFORE_LABEL = "my|the|final|overall|total|revised|corrected|updated"


def labelled_values(text: str, key: str) -> list[str]:
    """Return what follows `key:` on lines that begin with it, first line first, without markup.

    Every dash that directly precedes a digit is a minus sign; other dashes before a value are kept as they are, so
    that `Score: — 85` is no number.
    """
    return [_line_value(match[1]) for match in _line_of(key).finditer(text)]


def labelled_places(text: str, key: str) -> list[Span]:
    """Return the places of what follows `key:` on lines that begin with it."""
    return [match.span(1) for match in _line_of(key).finditer(text)]


def last_line_is_labelled(text: str, key: str) -> bool:
    """Return whether the text ends in the line of a label, so that its value may be cut off."""
    return bool(labelled_values(text.rstrip().rpartition("\n")[2], key))


def without_lines(text: str, keys: tuple[str, ...]) -> str:
    """Return the text without the lines of some labels."""
    for key in keys:
        text = _line_of(key).sub("", text)
    return text


def _line_value(written: str) -> str:
    bare = written.lstrip(_LINE_EMPHASIS).rstrip(_LINE_MARKUP)
    return _SIGN.sub("-", _AFTER_VALUE.sub("", bare))


@lru_cache(maxsize=256)
def _line_of(key: str) -> re.Pattern[str]:
    # "scriptScore" and "script_score" are written by judges as "Script score".
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", key).split(" ")
    label = r"[ _]?".join(map(re.escape, words))
    marks, emphasis = re.escape(_LINE_MARKUP), re.escape(_LINE_EMPHASIS)
    return re.compile(
        rf"^(?![ \t]*[{_QUOTED_LINE}])[{marks}]*(?:(?:{_BEFORE_LABEL})[ _]+)*{label}"
        rf"[{marks}]*[:：=|][{emphasis}]*([^\n]*)$",
        re.IGNORECASE | re.MULTILINE,
    )
