"""The GitHub Action, step by step in bash as a runner does, with a server that stands in for GitHub."""

import json
import os
import re
import shlex
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jsonschema
import pytest
import yaml
from tests.folding import for_each
from tests.reports.reviews import REVIEW

from polyjudge.catalogues.layouts import format_of
from polyjudge.records.codec import schema
from polyjudge.reports.review_formats import render_review

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
SCRIPT = ROOT / ".ci" / "review_comment.py"
TOKEN = "ghs-test-3f2a9c51b07e"
BOT = "github-actions[bot]"
HOSTILE = "$(touch injected) `touch injected` '; touch injected; \" ${PATH} && x"
PO = """msgid ""
msgstr "Language: de\\nContent-Type: text/plain; charset=UTF-8\\n"

msgid "Hello {name}!"
msgstr "%s"
"""


class GitHub(ThreadingHTTPServer):
    """The three endpoints for comments on pull request 7 of someone/app."""

    daemon_threads = True

    def __init__(self, comments=(), status=0):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.comments, self.status, self.calls = list(comments), status, []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, value):
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def handle_call(self):
        server, place = self.server, urlsplit(self.path)
        given = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")
        server.calls.append((self.command, place.path))
        assert self.headers["Authorization"] == f"Bearer {TOKEN}"
        if server.status and self.command != "GET":
            self.answer(server.status, {"message": "Resource not accessible by integration"})
        elif self.command == "GET" and place.path == "/repos/someone/app/issues/7/comments":
            asked = {key: int(value) for key, [value] in parse_qs(place.query).items()}
            start = (asked.get("page", 1) - 1) * asked.get("per_page", 30)
            self.answer(200, server.comments[start : start + asked.get("per_page", 30)])
        elif self.command == "POST" and place.path == "/repos/someone/app/issues/7/comments":
            server.comments.append(comment(len(server.comments) + 1, given["body"]))
            self.answer(201, server.comments[-1])
        elif self.command == "PATCH" and (
            match := re.fullmatch(r"/repos/someone/app/issues/comments/(\d+)", place.path)
        ):
            [found] = [each for each in server.comments if each["id"] == int(match[1])]
            found["body"] = given["body"]
            self.answer(200, found)
        else:
            self.answer(404, {"message": "Not Found"})

    do_GET = do_POST = do_PATCH = handle_call  # noqa: N815 - the names that the server calls


def comment(number, body, author=BOT):
    return {"id": number, "body": body, "user": {"login": author}}


@pytest.fixture
def github():
    servers = []

    def start(*comments, status=0):
        server = GitHub(comments, status)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def value_of(expression, known):
    """Return what an expression of the workflow language is, as far as action.yml uses it."""
    if " && " in expression:
        parts = [value_of(part, known) for part in expression.split(" && ")]
        return next((part for part in parts if not part), parts[-1])
    if match := re.fullmatch(r"(\S+) (==|!=) (\S+)", expression):
        left, right = (value_of(match[place], known) for place in (1, 3))
        return (left == right) == (match[2] == "==")
    if expression.startswith("'"):
        return expression.strip("'")
    if expression == "true":
        return True
    name, _, path = expression.partition(".")
    found = known[name]
    for key in path.split("."):
        found = found.get(key, "") if isinstance(found, dict) else ""
    return found


def filled(text, known):
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: str(value_of(match[1], known)), text)


class Runner:
    """Runs the `run` steps of the action in a repository, with the environment that it defines."""

    def __init__(self, folder, server, number=7):
        self.folder, self.server = folder, server
        self.work, self.temp = folder / "work tree", folder / "temp"
        self.work.mkdir()
        self.temp.mkdir()
        (folder / "event.json").write_text(json.dumps({"pull_request": {"number": number}} if number else {}))
        (folder / "python").write_text(
            f'#!/bin/sh\necho "$@" > {shlex.quote(str(folder / "asked"))}\nmkdir -p "$4/bin"\n'
            f'cp {shlex.quote(str(folder))}/bin/* "$4/bin"\n'
        )
        programs = folder / "bin"
        programs.mkdir()
        (programs / "pip").write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {shlex.quote(str(folder / 'installed'))}\n")
        (programs / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (programs / "polyjudge").write_text(f'#!/bin/sh\nexec {sys.executable} -m polyjudge "$@"\n')
        for program in (folder / "python", *programs.iterdir()):
            program.chmod(0o755)
        self.git("init", "--quiet")

    def git(self, *arguments):
        given = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments]
        subprocess.run(given, cwd=self.work, check=True, capture_output=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "x")

    def run(self, **inputs):
        """Run all steps, and return the exit code of each by its name, with what they printed."""
        names = {name: {"default": ""} | each for name, each in ACTION["inputs"].items()}
        assert {name.replace("_", "-") for name in inputs} <= set(names)
        known = {"github": {"action_path": str(ROOT), "token": TOKEN}}
        known["inputs"] = {name: filled(str(each["default"]), known) for name, each in names.items()}
        known["inputs"] |= {name.replace("_", "-"): value for name, value in inputs.items()}
        known["steps"] = {"python": {"outputs": {"python-path": str(self.folder / "python")}}}
        codes, printed = {}, ""
        for step in STEPS:
            if "run" not in step or not value_of(step.get("if", "true"), known):
                continue
            done = self.step(step, known)
            codes[step["name"]] = done.returncode
            printed += done.stdout + done.stderr
            if done.returncode:
                break
        return codes, printed, Path(value_of("steps.review.outputs.folder", known))

    def step(self, step, known):
        output = self.folder / "output"
        output.write_text("")
        given = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}
        given |= {
            "GITHUB_API_URL": self.server.url,
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_REPOSITORY": "someone/app",
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "RUNNER_TEMP": str(self.temp),
            "LC_ALL": "C.UTF-8",
        }
        given |= {name: filled(str(value), known) for name, value in step.get("env", {}).items()}
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, cwd=self.work, env=given, capture_output=True, text=True, check=False)
        outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        known["steps"].setdefault(step.get("id", ""), {})["outputs"] = outputs
        return done


@pytest.fixture
def runner(tmp_path, github):
    return Runner(tmp_path, github())


def test_inputs_reach_the_shell_only_as_variables():
    for step in STEPS:
        assert "${{" not in step.get("run", "")
        assert "uses" in step or step["shell"] == "bash"
        if "uses" in step:
            assert re.search(r"@[0-9a-f]{40}$", step["uses"])
    assert {name for name, each in ACTION["inputs"].items() if not {"description", "default"} <= set(each)} == set()


def test_every_input_is_used_and_every_used_input_is_declared():
    text = (ROOT / "action.yml").read_text(encoding="utf-8")

    assert set(re.findall(r"\binputs\.([\w-]+)", text)) == set(ACTION["inputs"])


@pytest.mark.slow
def test_a_second_run_updates_the_comment_of_the_first_and_hostile_names_stay_names(runner):
    runner.git("checkout", "--quiet", "-b", "$(touch${IFS}injected)")
    folder = runner.work / f"a b {HOSTILE.replace('/', '')}"
    folder.mkdir()
    runner.git("commit", "--quiet", "--allow-empty", "--message", "x")
    (folder / "de.po").write_text(PO.replace("%s", "Hallo!"), encoding="utf-8")
    runner.commit()
    given = {"paths": f"{folder.name}\n\n", "since": "HEAD^1", "name": HOSTILE}

    codes, printed, place = runner.run(**given, format="html\njunit")

    assert list(codes.items()) == [
        ("Install polyjudge", 0),
        ("Review", 0),
        ("Show what was found", 0),
        ("Comment on the pull request", 0),
        ("Result", 1),
    ], printed
    review = json.loads((place / "review.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema("localisation-review")).validate(review)
    assert [each["kind"] for each in review["findings"]] == ["placeholder_lost"]
    assert {path.name for path in place.iterdir()} == {
        *("review.json", "review.sarif", "review.html", "review.junit", "comment.md")
    }
    assert printed.count("::error file=") == 1
    assert "Hello" in (runner.folder / "summary.md").read_text(encoding="utf-8")
    [first] = runner.server.comments
    assert first["body"] == (place / "comment.md").read_text(encoding="utf-8")
    assert "placeholder lost" in first["body"]

    (folder / "de.po").write_text(PO.replace("%s", "Hallo {name}!"), encoding="utf-8")
    runner.git("commit", "--quiet", "--all", "--amend", "--message", "x")
    codes, printed, _ = runner.run(**given)

    assert codes["Result"] == 0, printed
    [updated] = runner.server.comments
    assert updated["id"] == first["id"]
    assert "The checks found no fault" in updated["body"]
    assert [method for method, _ in runner.server.calls] == ["GET", "POST", "GET", "PATCH"]
    assert not list(runner.folder.rglob("injected"))


def test_input_that_cannot_be_reviewed_fails_the_step_with_its_code_and_writes_no_comment(runner):
    codes, printed, _ = runner.run(paths="missing.po")

    assert codes == {"Install polyjudge": 0, "Review": 0, "Result": 2}
    assert "missing.po" in printed
    assert runner.server.calls == []


@for_each(
    ("inputs", "what"),
    [
        ({}, f"{ROOT}[l10n]"),
        ({"extras": "l10n,openai"}, f"{ROOT}[l10n,openai]"),
        ({"version": "1.2.3"}, "polyjudge[l10n]==1.2.3"),
        ({"version": HOSTILE}, f"polyjudge[l10n]=={HOSTILE}"),
    ],
)
def test_polyjudge_is_installed_beside_the_project(tmp_path_factory, inputs, what):
    folder = tmp_path_factory.mktemp("runner")
    runner = Runner(folder, type("Server", (), {"url": "http://127.0.0.1:9"}))
    known = {"github": {"action_path": str(ROOT)}, "inputs": {"extras": "l10n", "version": ""} | inputs}
    known["steps"] = {"python": {"outputs": {"python-path": str(folder / "python")}}}

    done = runner.step(next(step for step in STEPS if step.get("name") == "Install polyjudge"), known)

    assert done.returncode == 0, done.stderr
    assert (folder / "asked").read_text() == f"-I -m venv {runner.temp}/polyjudge\n"
    assert (folder / "installed").read_text().splitlines() == [
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--",
        what,
    ]
    assert not list(folder.rglob("injected"))


@pytest.fixture
def write(tmp_path):
    """Write the comment of a review, as the last step but one does."""
    folder = tmp_path / "review"
    folder.mkdir()

    def run(server, review=REVIEW, *, event=None, token=TOKEN, name="", author=BOT):
        (folder / "comment.md").write_text(render_review(review, "comment", name=name), encoding="utf-8")
        (folder / "review.json").write_text(render_review(review, "json"), encoding="utf-8")
        (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7}} if event is None else event))
        given = {"GITHUB_API_URL": server.url, "GITHUB_EVENT_PATH": str(tmp_path / "event.json")}
        given |= {"GITHUB_REPOSITORY": "someone/app", "COMMENT_AUTHOR": author, "COMMENT_TOKEN": token}
        command = [sys.executable, "-I", str(SCRIPT), str(folder)]
        done = subprocess.run(command, env=given, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        assert token not in done.stdout or not token
        return done.stdout

    return run


MARKER = "<!-- polyjudge-review -->"


def test_our_comment_is_found_on_any_page_and_no_other_is_changed(github, write):
    others = [comment(number, "a remark", "someone") for number in range(1, 231)]
    others[3] = comment(4, f"{MARKER}\nwritten by someone else", "someone")
    others[150] = comment(151, "<!-- polyjudge-review: web -->\nanother review of ours")
    others[210] = comment(211, f"{MARKER}\r\nours")
    server = github(*others)

    assert write(server) == ""

    changed = [each["id"] for each in server.comments if each["body"].startswith(f"{MARKER}\n### ")]
    assert changed == [211]
    assert [method for method, _ in server.calls] == ["GET", "GET", "GET", "PATCH"]


def test_reviews_with_names_have_comments_of_their_own(github, write):
    server = github()

    for name in ("web", "app", "web"):
        write(server, name=name)

    assert [each["body"].partition("\n")[0] for each in server.comments] == [
        "<!-- polyjudge-review: web -->",
        "<!-- polyjudge-review: app -->",
    ]


def test_nothing_is_written_where_there_is_nothing_to_say(github, write):
    server = github()

    write(server, type(REVIEW)(findings=(), languages=REVIEW.languages))

    assert server.comments == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"event": {}}, "::notice title=polyjudge review::This run is not about a pull request"),
        ({"token": ""}, "::warning title=polyjudge review::There is no token"),
    ],
)
def test_without_a_pull_request_or_a_token_nothing_is_asked(github, write, given, said):
    server = github()

    assert write(server, **given).startswith(said)
    assert server.calls == []


def test_a_token_that_may_only_read_is_a_warning(github, write):
    said = write(github(status=403))

    assert said.startswith("::warning title=polyjudge review::The comment could not be written: GitHub answered 403.")
    assert "from a fork" in said


def test_a_server_that_does_not_answer_is_a_warning(github, write):
    server = github()
    server.shutdown()
    server.server_close()

    assert "could not be written" in write(server)


GUIDE = (ROOT / "docs" / "guides" / "review-ci.md").read_text(encoding="utf-8")
EXAMPLE = (ROOT / "docs" / "examples" / "localisation-review.yml").read_text(encoding="utf-8")
[HOOK] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


def test_the_example_is_that_of_the_guide_and_gives_only_inputs_that_exist():
    blocks = re.findall(r"^```yaml\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
    steps = [step for block in blocks for step in re.findall(r"(?m)^ +with:\n((?: {10}[\w-]+:.*\n)+)", block)]
    workflow = yaml.safe_load(EXAMPLE)
    [job] = workflow["jobs"].values()

    assert EXAMPLE.partition("\n")[2] == blocks[0]
    assert set(job["steps"][-1]["with"]) <= set(ACTION["inputs"])
    assert all(re.search(r"@[0-9a-f]{40}$", step["uses"]) for step in job["steps"])
    assert job["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert len(steps) == 3
    given = {name for step in steps for name in re.findall(r"(?m)^ +([\w-]+):", step)} - {"path", "key", "restore-keys"}
    assert given <= set(ACTION["inputs"])


def test_the_guide_lists_every_input():
    table = GUIDE.partition("| input |")[2].partition("\n\n")[0]

    assert set(re.findall(r"`([a-z-]+)`", "\n".join(row.split("|")[1] for row in table.splitlines()[2:]))) == set(
        ACTION["inputs"]
    )


@for_each(
    ("path", "is_reviewed"),
    [
        *((path, True) for path in ("locale/de.po", "res/values-th/strings.xml", "a/locales/ar.json", "app_pt_BR.ts")),
        *((path, True) for path in ("lib/app_hi.arb", "ios/de.lproj/Localizable.strings", "config/locales/ja.yml")),
        *((path, False) for path in ("package.json", "README.md", "pom.xml", "src/locale.py", "values/x.xml.bak")),
        *((path, False) for path in ("src/main.ts", "i18n/index.ts", "app_store.ts")),
        *((path, False) for path in ("po/app.pot", "i18n/settings.toml", "a.sdlxliff")),
    ],
)
def test_the_hook_reviews_localisation_files(path, is_reviewed):
    assert (re.search(HOOK["files"], path) is not None) == is_reviewed
    assert format_of(Path(path)) or not is_reviewed


def test_the_hook_runs_the_command_with_the_files_of_the_commit():
    assert HOOK["entry"] == "polyjudge review"
    assert HOOK.get("pass_filenames", True)
    assert HOOK["additional_dependencies"] == [".[l10n]"]
