"""Run all measurements, or those named: `python -m benchmarks [NAME ...]`."""

import sys
from importlib import import_module

NAMES = ["startup", "reading", "cache", "overhead", "checks", "report", "regression", "agreement", "calibration"]

for name in sys.argv[1:] or NAMES:
    import_module(f"benchmarks.{name}").run()
