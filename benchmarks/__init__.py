"""Measurements, separate from the tests: ratios within one run, because machines are noisy."""
