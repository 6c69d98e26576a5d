"""Cut a reply where a chat template begins another turn: what follows is no longer the judge's answer."""

import re
from bisect import bisect_right
from itertools import chain

from .reply_text import find_objects

_ROLE = r"(?:user|human|system|assistant|model|tool|ipython|developer|bot|gpt)"
_TOKEN = re.compile(
    rf"""<[|｜](?:im_start|im_end|im_sep|eot_id|eom_id|end_of_text|endoftext|begin_of_text|start_header_id|end_header_id
        |start|end|return|call|user|human|system|assistant|bot|model|endofturn|end▁of▁sentence|begin▁of▁sentence|eot
        |User|Assistant|END_OF_TURN_TOKEN|START_OF_TURN_TOKEN|eoa|eos|endofprompt|turn)[|｜]>
      | </?s>(?=\s*(?:\Z|\n|<|\[)) | <s>(?=\s*\[INST\]) | \[/?INST\] | <</?SYS>> | <(?:start|end)_of_turn>{_ROLE}?
      | <(?:eos|bos)> | <turn\|> | <\|turn> | (?m:^[ \t]*\#\#\#[ \t]*(?:Instruction|Input|User|Human|System)\b[ \t]*:?)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OPENING = re.compile(rf"(?:\s*(?:{_TOKEN.pattern}))*\s*(?:{_ROLE}\b[ \t]*:?[ \t]*\n)?", re.VERBOSE | re.IGNORECASE)
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
_MARKS = ("<", "[INST", "[/INST", "[inst", "[/inst", "###")
"""One of these is in every token."""
_FAR = 200
"""Characters before an object in which the line of a speaker is looked for."""
_QUOTES = "`\"'“”‘’«»「」"


def first_turn(text: str) -> str:
    """Return `text` up to the first token of a chat template that ends the turn, or to a line of another speaker.

    Tokens that open the reply are skipped. Tokens inside JSON objects, in quotation marks or in the middle of a
    sentence are only mentioned. A speaker's name counts after an object, since prose before it may quote a dialogue.
    """
    tokens = list(_TOKEN.finditer(text)) if any(mark in text for mark in _MARKS) else []
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
    """Say whether an object is the answer of an assistant to a question that the reply itself asks before it."""
    return asked.start() < answer and _ANSWERING.search(text[max(0, answer - _FAR) : answer]) is not None


def _joins_messages(text: str, token: re.Match[str]) -> bool:
    """Say whether a token only separates the messages of one turn, as between reasoning and answer."""
    follows = token[0].lower() == "<|end|>" and _NEXT_MESSAGE.match(text, token.end()) is not None
    return follows or (token[0].lower() == "<|start|>" and _NEXT_MESSAGE.match(text, token.start()) is not None)


def _is_mentioned(text: str, match: re.Match[str]) -> bool:
    """Say whether a token is in quotation marks, or has words before and after it on its line."""
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    if before and before in _QUOTES and after and after in _QUOTES:
        return True
    return match[0][:1] in "<[" and before == " " and after == " " and text[match.end() : match.end() + 2][1:].isalpha()
