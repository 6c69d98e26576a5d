"""Calibration of judges: perturbations, agreement, bias, correction, trust cards."""
