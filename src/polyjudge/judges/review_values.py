"""Read what is written to one label of a review: a score out of 100, or one of the four verdicts."""

import re

SIGN = re.compile(r"\s*[\"']?\s*(?::|=>|=|->|→|⇒|➜|\||[-–—](?=\s))?\s*[\"'(\[]?\s*")
SCORE = re.compile(r"(-?\d+(?:[.,]\d+)*)\s*(?:%|(?:/|out of)\s*(\d+))?(?!\w)", re.IGNORECASE)
_COMPETING = re.compile(
    r"\s*(?:to|or|and|-|–|—|\.\.+|→|->|=|\+)\s*\d+\s*(?:/\s*100\b|%|$)|\s*[+=]|\s*(?:points?|von|de|sur)\b",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\s*(?:$|[(\[\])}\"',;.:!*|–—<-])")
_WHOSE = r"[ _:/-]*\(?\s*(agent|system|both)\s*(?:(?:and|&|\+|/)\s*(?:agent|system)\s*)?\)?"
VERDICT = re.compile(rf"(?<!\w)(?:(pass)(?:ed)?|fail(?:ed)?(?:{_WHOSE})?)(?!\w)", re.IGNORECASE)
_BOTH = re.compile(r"agent\W+(?:and\W+)?(?:fail\W+)?system|system\W+(?:and\W+)?(?:fail\W+)?agent", re.IGNORECASE)
_TICK = re.compile(r"(?:\[[xX✓✔]\]|\([xX✓✔]\)|[☑✅✔])\s*$")
_NO_TICK = re.compile(r"(?:\[\s?\]|\(\s?\)|[☐□❌✗])\s*$")
_OTHER_SCALE = re.compile(
    r"(?:out of|/|\bof\b|\d\s*(?:-|–|to|\.\.))\s*(?!100\b)\d+\b|(?:scale|skala|escala|échelle)\W*(?!0|100)\d",
    re.IGNORECASE,
)
BOX = re.compile(r"\[[\sxX✓✔]?\]|\([\sxX✓✔]?\)|[☐□☑]")


def find_score(written: str) -> re.Match[str] | None:
    """Return the one score that is written; none where numbers compete, or it is out of something else."""
    cells = [cell for cell in written.split("|") if SCORE.search(cell)]
    marked = [cell for cell in cells if re.search(r"/\s*100\b", cell)]
    if len(cells) > 1 and len(marked) != 1:
        return None
    cell = (marked or cells or [written])[0]
    match = SCORE.match(cell, SIGN.match(cell).end())  # type: ignore[union-attr] - it matches nothing, too
    if match is None or match[2] not in (None, "100") or not re.fullmatch(r"-?\d+(?:[.,]\d{1,2})?", match[1]):
        return None
    is_bare = match[2] is None and "%" not in match[0]
    if _COMPETING.match(cell, match.end()) or (is_bare and not _REMARK.match(cell, match.end())):
        return None
    is_share = is_bare and re.match(r"-?[01][.,]\d", match[1])  # 0.85 may be of 1
    return None if is_share or is_on_another_scale(cell[match.end() :]) else match


def is_on_another_scale(note: str) -> bool:
    """Say whether a note beside a score, such as (1-5) or (out of 10), names a scale that does not end at 100."""
    return bool(_OTHER_SCALE.search(note))


def find_verdict(written: str) -> str:
    """Return the verdict that is written: a plain FAIL where it does not say whose, nothing for other words."""
    matches = list(VERDICT.finditer(written))
    ticked = [match for match in matches if is_ticked(written, match)]
    named = {_named(match) for match in ticked or matches}
    if named == {"FAIL_AGENT", "FAIL_SYSTEM"} or (named <= {"FAIL_AGENT", "FAIL_SYSTEM"} and _BOTH.search(written)):
        return "FAIL_BOTH"
    if not matches or (len(matches) > 1 and not ticked and not _has_remark(written, matches[0])):
        return ""
    chosen = (ticked or matches)[0]
    if ticked:
        return _named(chosen) if len(named) == 1 else ""
    is_crossed_out = chosen[1] and re.match(r"\W*❌", written[chosen.end() :])
    return _named(chosen) if _has_remark(written, chosen) and not is_crossed_out else ""


def is_ticked(written: str, match: re.Match[str]) -> bool:
    """Say whether the box beside a verdict is ticked."""
    before = written[max(0, match.start() - 12) : match.start()]
    return bool(_TICK.search(before) or re.match(r"\s*[✅☑✔]", written[match.end() : match.end() + 4])) and not (
        _NO_TICK.search(before)
    )


def _has_remark(written: str, match: re.Match[str]) -> bool:
    """Say whether nothing, or only a remark, follows a verdict, and only signs stand before it: PASS if … is none."""
    is_first = not re.search(r"\w", BOX.sub("", written[: match.start()]))
    return is_first and re.match(r"\s*(?:$|[(\[\])}\"'.,;:!*|–—✅✔☑❌<-])", written[match.end() :]) is not None


def _named(match: re.Match[str]) -> str:
    if match[1]:
        return "PASS"
    return f"FAIL_{match[2].upper()}" if match[2] else "FAIL"
