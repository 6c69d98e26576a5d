"""What several tests with real components start.

Two processes share the tests, module by module: what a module starts (PostgreSQL, Ray, a browser, a model) is started
once, on a port and in a folder of its own.
"""

import pytest
from tests.real.browser import chromium
from tests.real.llama import Llama
from tests.real.postgres import Postgres

# The modules that take longest start first, so that both processes end at about the same time.
_FIRST = (
    "test_calibration_of_a_model",
    "test_batches",
    "test_ray",
    "test_agent_clis",
    "test_report_in_a_browser",
    "test_sdks",
    "test_pages_in_a_browser",
    "test_local_model",
    "test_frameworks",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _FIRST.index(item.path.stem) if item.path.stem in _FIRST else len(_FIRST))


@pytest.fixture(scope="module")
def llama():
    server = Llama()
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def postgres():
    server = Postgres()
    try:
        server.start()
        yield server
    finally:
        server.remove()
