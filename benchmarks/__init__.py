"""Measurements, kept apart from the tests: ratios side by side in one run, since machines are noisy."""
