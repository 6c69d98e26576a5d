"""A clean environment, no network but loopback, and texts in many scripts."""

import atexit
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from tests.loopback.vendor_server import Server, ServerThread

# Machines are noisy: no test of ours depends on how long something takes. Properties are tried on the same cases every
# time, so that a red test is due to the change at hand; `make explore` looks for new ones.
# A busy machine is no reason to fail: how long examples take is not tested.
_SLOW = [HealthCheck.too_slow]
settings.register_profile("polyjudge", deadline=None, derandomize=True, suppress_health_check=_SLOW)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "polyjudge"))

_LOOPBACK = ("127.", "localhost", "::1")

TEXTS = {
    "en": "Where is the nearest station?",
    "ar": "أين أقرب محطة؟",
    "fa": "نزدیک‌ترین ایستگاه کجاست؟",
    "he": "איפה התחנה הקרובה ביותר?",
    "hi": "सबसे नज़दीकी स्टेशन कहाँ है? क्षत्रिय",
    "bn": "নিকটতম স্টেশন কোথায়?",
    "ta": "அருகிலுள்ள நிலையம் எங்கே?",
    "th": "สถานีที่ใกล้ที่สุดอยู่ที่ไหน",
    "ko": "가장 가까운 역이 어디예요?",
    "ja": "一番近い駅はどこですか。",
    "zh": "最近的车站在哪里？",
    "yue": "最近嘅車站喺邊度呀？",
    "ru": "Где ближайшая станция?",
    "el": "Πού είναι ο πλησιέστερος σταθμός;",
    "am": "በአቅራቢያው ያለው ጣቢያ የት ነው?",
    "ka": "სად არის უახლოესი სადგური?",
    "emoji": "👩🏽‍🚀🇲🇳 é̂",
}


def pytest_configure() -> None:
    """Start programs with signals at their defaults, even if the tests run under nohup or in the background.

    A program inherits that a signal is ignored, but not that it is handled: the tests themselves go on ignoring it.
    """
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    _keep_trust_apart()


def _keep_trust_apart() -> None:
    """Record trust in a folder of this test run, shared by its processes, not in the developer's own."""
    if "POLYJUDGE_TEST_STATE" not in os.environ:
        folder = tempfile.mkdtemp(prefix="polyjudge-state-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["POLYJUDGE_TEST_STATE"] = folder
    os.environ["XDG_STATE_HOME"] = os.environ["POLYJUDGE_TEST_STATE"]
    # Some tests write private state into the folder that pytest was started in; it may be there from an earlier run.
    os.environ["POLYJUDGE_TRUST"] = str(Path.cwd())


@pytest.fixture(params=sorted(TEXTS))
def text(request: pytest.FixtureRequest) -> str:
    """A text in each of many scripts."""
    return TEXTS[request.param]


def _is_a_setting(name: str) -> bool:
    return name.endswith(("_API_KEY", "_BASE_URL")) or name in ("VERBOSE", "JUDGE_MODEL", "POLYJUDGE_TEMPERATURE")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if _is_a_setting(name):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _no_network_but_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if self.family != socket.AF_UNIX and not str(host).startswith(_LOOPBACK):
            raise AssertionError(f"a test tried to reach {host!r}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Demo(NamedTuple):
    """The files and the output of `polyjudge demo` in an empty folder. Do not write there."""

    folder: Path
    printed: str


@pytest.fixture(scope="session")
def enabling():
    """How a provider with an SDK is enabled: in an environment without its package, there are two steps."""

    from polyjudge.extras import install_command, is_installed

    def text(extra: str, export: str, *, package: str = "") -> str:
        install = "" if is_installed(package or extra) else f"{install_command(extra)} && "
        return f"To enable: {install}export {export}\n"

    return text


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Run `polyjudge demo` once for all tests, whichever process they run in."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, printed = shared / "demo", shared / "demo.txt"
    with (shared / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            folder.mkdir()
            environment = {name: value for name, value in os.environ.items() if not _is_a_setting(name)}
            command = [sys.executable, "-m", "polyjudge", "demo"]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, "")
            printed.write_text(done.stdout, encoding="utf-8")
    return Demo(folder, printed.read_text(encoding="utf-8"))


@pytest.fixture
def snapshot():
    """Compare a text with the one stored under tests/snapshots; UPDATE_SNAPSHOTS=1 stores the new one instead."""

    def compare(name: str, text: str) -> None:
        path = Path(__file__).parent / "snapshots" / name
        if os.environ.get("UPDATE_SNAPSHOTS") == "1":
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{name} changed; look at it, then run with UPDATE_SNAPSHOTS=1"

    return compare


@pytest.fixture
def server():
    """A loopback server that speaks the vendors' protocols."""
    with ServerThread(Server()) as running:
        yield running


@pytest.fixture
def make_report(tmp_path):
    """Write languages and scores to disk, and return a report on them."""
    import json  # here, because most tests need none of it

    from polyjudge.formats.translation_results import TranslationResults
    from polyjudge.formats.translation_scores import TranslationScores
    from polyjudge.languages.table import language_table
    from polyjudge.reports.translation import Report

    def make(languages, *, about=None, timestamp="2026-01-02T03:04:05Z", **scores):
        results = tmp_path / "results.json"
        results.write_text(json.dumps({**(about or {}), "results": languages}), encoding="utf-8")
        judged = {}
        for name, rows in scores.items():
            path = tmp_path / f"{name}.json"
            path.write_text(json.dumps(rows), encoding="utf-8")
            judged[name] = TranslationScores(path)
        return Report(TranslationResults(results), judged, language_table(), timestamp=timestamp)

    return make
