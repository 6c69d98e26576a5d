"""Can a judge be trusted? It is asked about texts spoiled on purpose, and compared with people."""

from polyjudge.records import MonotonicityResult

from .agreement import AgreementOptions, Matched, Pair, agreement_by_language, match
from .cards import begun, with_agreement, with_effects, with_measurement
from .correcting import Correction, correct, correct_from_elsewhere
from .effects import effects_of, own_family
from .families import family_of
from .measuring import RELIABLE_FROM, Measurement, measure_judge
from .monotonicity import NOTICEABLE, SENSITIVE_FROM
from .perturbations import (
    CONTROL_TYPES,
    PERTURBATION_TYPES,
    Perturbation,
    Surroundings,
    apply_perturbation,
    neighbours_of,
    perturbation,
    severity_ladder,
)
from .probes import EFFECTS, Probe, ProbeOptions, plan_probes, reordered
from .questioning import calibrate, calibrate_sync, share_of_scale, text_context, trial_item
from .sample import sample_table, sample_texts
from .trials import SEVERITIES, Trial, TrialOptions, TrialPlan, plan_trials

__all__ = [
    "CONTROL_TYPES",
    "EFFECTS",
    "NOTICEABLE",
    "PERTURBATION_TYPES",
    "RELIABLE_FROM",
    "SENSITIVE_FROM",
    "SEVERITIES",
    "AgreementOptions",
    "Correction",
    "Matched",
    "Measurement",
    "MonotonicityResult",
    "Pair",
    "Perturbation",
    "Probe",
    "ProbeOptions",
    "Surroundings",
    "Trial",
    "TrialOptions",
    "TrialPlan",
    "agreement_by_language",
    "apply_perturbation",
    "begun",
    "calibrate",
    "calibrate_sync",
    "correct",
    "correct_from_elsewhere",
    "effects_of",
    "family_of",
    "match",
    "measure_judge",
    "neighbours_of",
    "own_family",
    "perturbation",
    "plan_probes",
    "plan_trials",
    "reordered",
    "sample_table",
    "sample_texts",
    "severity_ladder",
    "share_of_scale",
    "text_context",
    "trial_item",
    "with_agreement",
    "with_effects",
    "with_measurement",
]
