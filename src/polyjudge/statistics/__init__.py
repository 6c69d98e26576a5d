"""Numbers that sum up many results."""

from typing import TYPE_CHECKING

from polyjudge.lazy import lazily

if TYPE_CHECKING:
    from .agreement import (
        Level,
        Unit,
        Value,
        cohen_kappa,
        exact_agreement,
        krippendorff_alpha,
        mean_difference,
    )
    from .intervals import Interval, RunningMean, reached_at_best, reached_by, t_quantile, wilson_interval
    from .significance import benjamini_hochberg, mcnemar_exact

__all__ = [
    "Interval",
    "Level",
    "RunningMean",
    "Unit",
    "Value",
    "benjamini_hochberg",
    "cohen_kappa",
    "exact_agreement",
    "krippendorff_alpha",
    "mcnemar_exact",
    "mean_difference",
    "reached_at_best",
    "reached_by",
    "t_quantile",
    "wilson_interval",
]

lazily(__name__)
