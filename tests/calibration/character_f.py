"""A short chrF for a judge that knows the right answer; sacreBLEU is an extra that these tests do not need."""

from collections import Counter

ORDERS = range(1, 7)
BETA = 2


def chrf(candidate: str, reference: str) -> float:
    """Return the F score of n-grams of one to six letters, from 0 to 100; recall counts double."""
    one, two = ("".join(text.split()) for text in (candidate, reference))
    precisions, recalls = [], []
    for order in ORDERS:
        found, wanted = _pieces(one, order), _pieces(two, order)
        if found and wanted:
            shared = (found & wanted).total()
            precisions.append(shared / found.total())
            recalls.append(shared / wanted.total())
    if not precisions:
        return 0.0
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    below = BETA**2 * precision + recall
    return 100 * (1 + BETA**2) * precision * recall / below if below else 0.0


def _pieces(text: str, order: int) -> Counter[str]:
    return Counter(text[start : start + order] for start in range(len(text) - order + 1))
