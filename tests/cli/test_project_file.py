"""What `polyjudge.toml` may set before and after the user has trusted it."""

import json
import time
from pathlib import Path

import pytest

from polyjudge.cli import COMMANDS, actions_of, build_parser, main
from polyjudge.cli.settings import ProjectFile
from polyjudge.errors import DataError
from polyjudge.files.text_files import line_of, read_toml
from polyjudge.folder_trust import trust

NEED_TRUST = {
    *("command", "version-command", "env", "set", "engine", "workers", "cache", "local-cache", "card", "price"),
    *("host", "force", "yes", "update", "write-accepted"),
}
PATHS = ("FILE", "DIR", "PATH")


def options():
    """Every option of every command: its command, action, name and parser action."""
    for command in COMMANDS:
        parser = actions_of(build_parser(command))[command]
        for action, own in (actions_of(parser) or {"": parser}).items():
            for option in own._actions:
                for name in option.option_strings:
                    if name.startswith("--") and name != "--help":
                        yield command, action, name.removeprefix("--"), option


def apply(command: str, action: str, given=()) -> None:
    """Apply the project file as the command does, with a new parser."""
    parser = actions_of(build_parser(command))[command]
    ProjectFile(command, action).apply(actions_of(parser)[action] if action else parser, COMMANDS, given)


def value_of(option, name: str) -> str:
    """Return some value that an option takes, as TOML."""
    if option.nargs == 0:
        return "true"
    if option.choices:
        return json.dumps(str(list(option.choices)[-1]))
    return {"workers": "2", "price": '"1,2"'}.get(name, '"x"')


@pytest.mark.slow
def test_options_that_run_programs_or_open_addresses_need_trust(in_folder):
    seen = set()
    for command, action, name, option in options():
        if name in NEED_TRUST:
            seen.add(name)
            table = f"{command}.{action}" if action else command
            Path("polyjudge.toml").write_text(f"[{table}]\n{name} = {value_of(option, name)}\n", encoding="utf-8")
            with pytest.raises(DataError, match=f"{name} .*, so the file must be trusted first.*polyjudge trust"):
                apply(command, action)
            apply(command, action, given=[f"--{name}=mine"])
            trust(in_folder)
            apply(command, action)
    assert seen == NEED_TRUST


@pytest.mark.slow
def test_no_path_leads_out_of_the_folder_without_trust(in_folder, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    Path("link").symlink_to(outside)
    tried = set()
    for command, action, name, option in options():
        if name not in NEED_TRUST and any(word in str(option.metavar) for word in PATHS):
            tried.add(name)
            table = f"{command}.{action}" if action else command
            for path in ("../x", str(outside / "x"), "link/x"):
                Path("polyjudge.toml").write_text(f"[{table}]\n{name} = {json.dumps(path)}\n", encoding="utf-8")
                with pytest.raises(DataError, match="a path outside the folder, so the file must be trusted"):
                    apply(command, action)
            Path("polyjudge.toml").write_text(f'[{table}]\n{name} = "inside/x"\n', encoding="utf-8")
            apply(command, action)
    assert {"output", "junit", "rubric", "suite", "answers", "plots", "bless", "labels", "prompts"} <= tried


@pytest.mark.parametrize("judge", ["scripted/../x.jsonl", "local/m, scripted//etc/x.jsonl"])
def test_a_recording_outside_the_folder_needs_trust(judge, in_folder):
    Path("polyjudge.toml").write_text(f"judge = {json.dumps(judge)}\n", encoding="utf-8")

    with pytest.raises(DataError, match="a path outside the folder"):
        apply("score", "")


def test_a_strangers_output_is_not_written(tmp_path, monkeypatch, capsys):
    home, clone = tmp_path / "home", tmp_path / "clone"
    home.mkdir()
    clone.mkdir()
    (home / ".bashrc").write_text("precious\n", encoding="utf-8")
    monkeypatch.chdir(clone)
    Path("items.jsonl").write_text('{"id": "a", "candidate": "text", "language": "en"}\n', encoding="utf-8")
    Path("polyjudge.toml").write_text('[score]\noutput = "../home/.bashrc"\n', encoding="utf-8")
    command = ["score", "items.jsonl", "--rubric", "translation", "--judge", "offline"]

    assert main(command) == 2

    printed = capsys.readouterr().err
    assert printed.startswith("polyjudge: polyjudge.toml:2: output is '../home/.bashrc', a path outside the folder")
    assert (home / ".bashrc").read_text(encoding="utf-8") == "precious\n"


def test_a_run_says_which_options_came_from_the_file(in_folder, capsys):
    Path("items.jsonl").write_text('{"id": "a", "candidate": "text", "language": "en"}\n', encoding="utf-8")
    Path("polyjudge.toml").write_text(
        'limit = 1\n[score]\njudge = "offline"\nfilter = ["language=en", "id=a"]\n', encoding="utf-8"
    )

    assert main(["score", "items.jsonl", "--rubric", "translation"]) == 0
    assert capsys.readouterr().err.splitlines()[0] == (
        "polyjudge: from polyjudge.toml: limit=1, judge=offline, filter=language=en,id=a"
    )
    assert main(["score", "items.jsonl", "--rubric", "translation", "--limit=1", "--filter", "id=a"]) == 0
    assert capsys.readouterr().err.splitlines()[0] == "polyjudge: from polyjudge.toml: judge=offline"


def test_what_may_be_a_password_is_not_shown(in_folder, capsys):
    Path("items.jsonl").write_text('{"id": "a", "candidate": "text", "language": "en"}\n', encoding="utf-8")
    Path("polyjudge.toml").write_text('cache = "postgresql://me:geheim@127.0.0.1:1/x"\n', encoding="utf-8")
    trust(in_folder)

    main(["score", "items.jsonl", "--rubric", "translation", "--judge", "offline"])

    printed = capsys.readouterr().err
    assert "from polyjudge.toml: cache=•••" in printed
    assert "geheim" not in printed


BOMBS = {
    "nested lists": ("a = " + "[" * 100_000, "nested too deeply"),
    "nested tables": ("a = " + "{b = " * 30_000, "nested too deeply"),
    "dotted key": (".".join(["a"] * 100_000) + " = 1", "a key has more than 32 parts"),
    "dotted key with spaces": (" . ".join(["'a'"] * 10_000) + " = 1", "a key has more than 32 parts"),
    "dotted table": ("[" + ".".join(['"a b"'] * 10_000) + "]", "a key has more than 32 parts"),
    "dotted key in a table": ("x = {" + ".".join(["a"] * 10_000) + " = 1}", "a key has more than 32 parts"),
    "long number": ("a = " + "9" * 5_000, "not TOML"),
    "large": ("# " + "x" * 300_000, "larger than 256 KiB"),
    "not text": ("a = '\udcff'", "not UTF-8"),
    "one long word": ("a" * 250_000, "not TOML"),
    "many quotes": ("\"'" * 100_000, "not TOML"),
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("command", [["score", "x"], ["report", "--results", "x"], ["providers"], ["demo"]])
def test_a_file_made_to_harm_is_refused_at_once(name, command, in_folder, capsys):
    text, printed = BOMBS[name]
    Path("polyjudge.toml").write_bytes(text.encode(errors="surrogateescape"))
    started = time.process_time()

    assert main(command) == 2

    assert time.process_time() - started < 20  # a minute and more without the limits
    assert capsys.readouterr().err.startswith("polyjudge: polyjudge.toml:")
    with pytest.raises(DataError, match=printed):
        read_toml(Path("polyjudge.toml"))


def test_help_and_trust_work_beside_any_file(in_folder, capsys):
    Path("polyjudge.toml").write_text("a = " + "[" * 100_000, encoding="utf-8")

    with pytest.raises(SystemExit) as ended:
        main(["score", "--help"])
    assert ended.value.code == 0
    assert main(["trust", "--list"]) == 0


def test_sentences_with_many_dots_are_no_deep_key(in_folder):
    text = "e.g. one. two. three. " * 50 + "a...b...c" * 50 + " 1.2.3.4.5.6.7.8.9"
    Path("x.toml").write_text(f'text = """\n{text}\n"""\n[a.b.c.d.e.f.g]\nh.i.j = 1\n', encoding="utf-8")

    assert read_toml(Path("x.toml"))["text"].strip() == text.strip()


@pytest.mark.parametrize("what", ["rubric", "prompts", "case", "models"])
def test_other_toml_files_have_the_same_limits(what, in_folder, capsys):
    Path("items.jsonl").write_text('{"id": "a", "candidate": "text", "language": "en"}\n', encoding="utf-8")
    bomb = "a = " + "[" * 100_000
    if what == "rubric":
        Path("r.toml").write_text(bomb, encoding="utf-8")
        command = ["score", "items.jsonl", "--rubric", "r.toml", "--judge", "offline"]
    elif what == "prompts":
        Path("p.toml").write_text(bomb, encoding="utf-8")
        command = ["translation", "generate", "--prompts", "p.toml", "--translator", "local/m", "--output", "o.json"]
    elif what == "case":
        Path("cases/a").mkdir(parents=True)
        for name in ("input.txt", "expected.txt"):
            Path("cases/a", name).write_text("x", encoding="utf-8")
        Path("cases/a/case.toml").write_text(bomb, encoding="utf-8")
        command = ["regression", "audit", "cases"]
    else:
        Path(".polyjudge").mkdir()
        Path(".polyjudge/models.toml").write_text(bomb, encoding="utf-8")
        trust(in_folder)
        command = ["score", "items.jsonl", "--rubric", "general", "--judge", "opus"]

    assert main(command) == 2
    assert "nested too deeply" in capsys.readouterr().err


MISTAKES = {
    "[scor]\nmax-cost = 3\n": "1: unknown table [scor]. Did you mean [score]?",
    "limit = 3\n\n[[scor]]\nmax-cost = 3\n": "3: unknown table [scor]. Did you mean [score]?",
    "[translation.qick]\nsample = 3\n": (
        "1: [translation.qick]: unknown action. Available: generate, check, quick, full. Did you mean 'quick'?"
    ),
    "# caps\nmax_cosst = 3\n": "2: unknown key 'max_cosst'. Did you mean 'max-cost'?",
    '[score]\nlimit = 1\nrubic = "general"\n': "3: [score]: unknown key 'rubic'. Did you mean 'rubric'?",
    "limit = 3\nrubric = general  # ours\n": '2: invalid value; text needs quotes: rubric = "general"',
    "limit = 3\nrubric =\n": "2: not TOML: Invalid value",
    "limit = 3\ncache = postgresql://me:secret@host/db\n": "2: not TOML: Invalid value",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_in_the_project_file_stops_the_command_and_says_where_it_is(text, in_folder, capsys):
    Path("polyjudge.toml").write_text(text, encoding="utf-8")

    assert main(["score", "items.jsonl", "--rubric", "general", "--judge", "offline"]) == 2

    assert capsys.readouterr().err == f"polyjudge: polyjudge.toml:{MISTAKES[text]}\n"


@pytest.mark.filterwarnings("default")
def test_a_key_of_another_command_is_only_a_warning(in_folder, capsys):
    Path("polyjudge.toml").write_text("alpha = 0.1\n", encoding="utf-8")

    assert main(["score", "items.jsonl", "--rubric", "translation", "--judge", "offline"]) == 2

    printed = capsys.readouterr().err
    assert "warning: polyjudge.toml: 'alpha' is not an option of score" in printed
    assert "items.jsonl: cannot be read" in printed


@pytest.mark.parametrize(
    ("text", "table", "key", "line"),
    [
        ("a = 1\n[b]\na = 2\n", "", "a", 1),
        ("a = 1\n[b]\na = 2\n", "b", "a", 3),
        ("[ x . y ]\r\n'q' = 1", "x.y", "q", 2),
        ("a.b = 1\n", "a", "", 0),
    ],
)
def test_the_line_of_a_key_is_found_in_its_own_table(text, table, key, line):
    assert line_of(text, table, key) == line
