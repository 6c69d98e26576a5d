"""Find translations that are far shorter than the others of their file: their end may be missing."""

import math
from collections.abc import Iterator, Sequence
from statistics import median

from polyjudge.checks.completeness import usual_length_share
from polyjudge.records.findings import Finding, Severity

from .text_findings import Part

_COUNTED = 20
"""Letters of a source from which its translation counts for what is usual."""
_ASSUMED = 10
"""So many translations of the usual length are assumed, so that a few do not decide."""
_SHORTENED: tuple[tuple[int, float, Severity], ...] = ((25, 0.45, "warn"), (30, 0.55, "info"))
"""From so many letters of source on, a text with less than this share of the usual length may be incomplete.

Of 20,000 messages of Debian, 0.8 in 1,000 are below the first share and 2 below the second; of texts that end after two
fifths of their words, 82% and 95%.
"""


class UsualLengths:
    """How long the translations of a file usually are."""

    def __init__(self, parts: Sequence[Part]) -> None:
        shares = [_share(part) for part in parts if len(part.source) >= _COUNTED and not part.is_copy]
        self._usual = math.exp(median([*(math.log(share) for share in shares if share > 0), *[0.0] * _ASSUMED]))

    def findings(self, part: Part) -> Iterator[Finding]:
        """Find a translation that is much shorter than usual."""
        size, share = len(part.source), _share(part) / self._usual
        for least, shortest, severity in _SHORTENED:
            if size >= least and 0 < share < shortest and not part.is_copy:
                message = f"Much shorter than the other translations of the file: {share:.0%} of the usual length."
                yield Finding("wrong_length", severity, message)
                return


def _share(part: Part) -> float:
    return usual_length_share(part.plain.text.strip(), part.source.strip())
