"""Run the command line as `python -m polyjudge`."""

import sys

from polyjudge.cli import main

if __name__ == "__main__":
    sys.exit(main())
