"""A command that is killed while it waits for its batches, which end in the meantime."""

import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from tests.loopback.batch_server import BatchServer


def kill_while_waiting(server: BatchServer, command: Sequence[str]) -> None:
    server.faults.polls = 10**6
    with subprocess.Popen([sys.executable, "-m", "polyjudge", *command], stderr=subprocess.DEVNULL) as run:
        while not server.calls["status"]:
            assert run.poll() is None
            time.sleep(0.01)
        run.send_signal(signal.SIGKILL)
    for held in server.batches.values():
        held.polls_left = 0
