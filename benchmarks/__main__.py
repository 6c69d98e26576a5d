"""Run all measurements, or those named: `python -m benchmarks [NAME ...]`.

Only when named: `million`, which takes half an hour, `tables`, which needs pyarrow, `transports`, which needs the SDKs,
`shared_cache`, which needs PostgreSQL and asyncpg, `profiling`, which writes files of this repository, and `peers`,
`peers_memory` and `review_faults`, which install other programs.
"""

import sys
from importlib import import_module

NAMES = ["startup", "reading", "cache", "overhead", "scaling", "checks", "report", "regression", "agreement"]
NAMES += ["check_precision", "check_strings", "calibration", "faults", "crossings", "ranking", "spans"]
NAMES += ["review_reading", "sampling", "watch", "cascades", "corrections"]

for name in sys.argv[1:] or NAMES:
    import_module(f"benchmarks.{name}").run()
