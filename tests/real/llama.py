"""A real local model, to be started, killed and started again."""

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


class Llama:
    """The server in a process of its own, which can be killed and started again at the same address."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.process = None

    def start(self, *, wait=True):
        script = Path(__file__).with_name("llama_server.py")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([sys.executable, str(script), str(self.port)], **quiet)
        while wait and not self._answers():
            assert self.process.poll() is None, "the server did not start"
            time.sleep(0.2)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/models", timeout=5) as response:
                return response.status == 200
        except (urllib.error.URLError, OSError):
            return False
