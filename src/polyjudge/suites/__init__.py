"""What is evaluated."""

from .scoring import ScoreSummary, Tally, open_judge, score_items

__all__ = ["ScoreSummary", "Tally", "open_judge", "score_items"]
