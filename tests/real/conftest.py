"""What several tests with real components start."""

import pytest
from tests.real.browser import chromium
from tests.real.llama import Llama
from tests.real.postgres import Postgres


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
