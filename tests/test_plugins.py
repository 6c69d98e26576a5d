"""Plugins: found by entry points or registered, used like built-in names, and isolated when they fail."""

import asyncio
import json
import subprocess
import sys

import pytest
from msgspec.structs import replace

from polyjudge import (
    CheckedText,
    ConfigError,
    DataError,
    Edit,
    Failure,
    Finding,
    Item,
    JudgeResult,
    Language,
    PluginWarning,
    Reply,
    Request,
    RubricJudge,
    Run,
    ScriptedProvider,
    TransientError,
    UnknownNameError,
    check,
    load_rubric,
    open_provider,
    plan_edits,
    read_items,
    register,
)
from polyjudge.calibration.perturbations import apply_perturbation
from polyjudge.cli import main
from polyjudge.concurrency.sync import run_sync
from polyjudge.languages.table import language_table
from polyjudge.plugins import GROUPS, PLUGINS, Plugins
from polyjudge.providers.registry import PROVIDERS
from polyjudge.records.requests import ModelName
from polyjudge.runs.stack import judge_by_models

GOOD_GERMAN = "Guten Morgen, wie geht es Ihnen heute?"


@pytest.fixture(autouse=True)
def own_plugins():
    """Remove the plugins of a test, because their table belongs to the process, and read entry points before it."""
    PLUGINS.names("checks")
    yield
    for group in GROUPS:
        for name in PLUGINS.names(group):
            PLUGINS.remove(group, name)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that puts a package with entry points on the path, as an installer does."""
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(site)

    def put(package, version, entry_points, **modules):
        folder = site / f"{package}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        lines = [line for group, names in entry_points.items() for line in (f"[polyjudge.{group}]", *names)]
        (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
        for name, code in modules.items():
            (site / f"{name}.py").write_text(code)

    return put


def test_a_name_is_found_with_its_package_and_imported_on_first_use(install):
    install("colours", "2.0", {"checks": ["blue = colours_module:find"]}, colours_module="find = 7\n")
    plugins = Plugins()

    assert plugins.names("checks") == ["blue"]
    assert (plugins.plugin("checks", "blue").package, plugins.plugin("checks", "blue").version) == ("colours", "2.0")
    assert plugins.load("checks", "blue") == 7


def test_finding_names_imports_nothing(install, capsys):
    install("colours", "2.0", {"checks": ["blue = loud_module:find"]}, loud_module="print('imported')\nfind = 7\n")

    assert Plugins().names("checks") == ["blue"]
    assert capsys.readouterr().out == ""


def test_a_plugin_that_cannot_be_imported_is_one_warning_and_the_others_are_used(install):
    entry_points = {"checks": ["bad = no_such_module:find", "good = fine_module:find"]}
    install("colours", "2.0", entry_points, fine_module="find = 1\n")
    plugins = Plugins()

    printed = r"the check 'bad' of colours 2\.0 cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"
    with pytest.warns(PluginWarning, match=printed) as caught:
        assert [target for _, target in plugins.each("checks")] == [1]
        assert [target for _, target in plugins.each("checks")] == [1]
    assert len(caught) == 1
    with pytest.raises(ConfigError, match=printed):
        plugins.load("checks", "bad")


def test_nothing_in_the_working_folder_is_a_plugin(in_folder):
    """An untrusted folder may look like an installed package, and `python -m` puts it on the path."""
    folder = in_folder / "stranger-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[polyjudge.checks]\nmine = stranger:find\n")
    (in_folder / "stranger.py").write_text("raise SystemExit('the code of the folder was run')\n")
    command = [sys.executable, "-m", "polyjudge", "plugins", "--format", "json"]

    assert json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout) == []


def test_a_built_in_name_is_not_replaced_and_the_warning_names_both(install):
    install("takeover", "1.0", {"providers": ["openai = json:loads", "mine = json:loads"]})
    plugins = Plugins()

    with pytest.warns(PluginWarning, match=r"the provider 'openai' of takeover 1\.0 is not used: the name is built in"):
        assert plugins.names("providers", PROVIDERS) == ["mine"]


def test_of_two_packages_with_one_name_the_first_is_used_and_the_other_named(install):
    install("beta", "1.0", {"checks": ["same = json:dumps"]})
    install("alpha", "1.0", {"checks": ["same = json:loads"]})
    plugins = Plugins()

    with pytest.warns(
        PluginWarning, match=r"'same' of beta 1\.0 is not used: the check 'same' of alpha 1\.0 has the same name"
    ):
        assert plugins.load("checks", plugins.names("checks")[0]) is json.loads
    assert [(each.package, each.problem) for each in plugins.installed({})] == [
        ("alpha", ""),
        ("beta", "not used: the check 'same' of alpha 1.0 has the same name"),
    ]


def test_what_is_registered_is_used_instead_of_an_entry_point_and_can_be_removed(install):
    install("colours", "2.0", {"checks": ["blue = json:loads"]})
    plugins = Plugins()
    plugins.add("checks", "blue", "mine")

    assert plugins.load("checks", "blue") == "mine"
    plugins.remove("checks", "blue")
    assert plugins.load("checks", "blue") is json.loads


@pytest.mark.parametrize("name", ["", "a/b", "a,b", "a b", "a\nb"])
def test_an_invalid_plugin_name_is_refused(name):
    with pytest.raises(ConfigError, match="Invalid plugin name"):
        Plugins().add("judges", name, None)


def find_morning(text: CheckedText):
    """Find a greeting; used by several tests."""
    if "Morgen" in text.text:
        yield Finding("morning", "warn", "a greeting", 0, 5)


def test_a_check_is_a_function_a_class_or_an_object():
    class Finder:
        def find(self, text):
            return [Finding("by_class", "info", text.language.tag)]

    register.check("one")(find_morning)
    register.check("two")(Finder)
    PLUGINS.add("checks", "three", Finder())

    assert [each.kind for each in check(GOOD_GERMAN, language="de")] == ["morning", "by_class", "by_class"]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([1], "TypeError: 1 is no Finding"),
        ([Finding("a", "bad", "")], "ValueError: a finding needs a kind"),  # type: ignore[arg-type]
        ([Finding("", "fail", "")], "ValueError: a finding needs a kind"),
        ([Finding("a", "fail", "", 3, 999)], "ValueError: the place is not in the text"),
        ([Finding("a", "fail", "", 3, None)], "ValueError: the place is not in the text"),
        (None, "TypeError"),
    ],
)
def test_a_check_that_fails_is_one_warning_and_a_finding_in_each_text(found, message):
    register.check("faulty")(lambda _: found)

    with pytest.warns(PluginWarning, match=f"the check 'faulty' .*was not checked by it: {message}") as caught:
        findings = [finding for _ in range(2) for finding in check(GOOD_GERMAN, language="de")]
    assert len(caught) == 1
    assert [(each.kind, each.severity) for each in findings] == [("check_failed", "info")] * 2


def test_a_provider_answers_as_a_model_with_its_errors_as_failures_of_single_items():
    @register.provider("counting")
    class Counting:
        def __init__(self, model):
            self.model = model

        async def complete(self, request: Request) -> Reply:
            if "second" in request.prompt:
                raise KeyError("what the vendor forgot")
            return Reply(text='{"score": 40, "reason": "", "subscores": {}}', model=self.model)

    items = [Item("1", "the first"), Item("2", "the second"), Item("3", "the third")]
    judge = judge_by_models(load_rubric("general"), [ModelName("counting", "m")])
    outcomes = [outcome for _, outcome in Run(items, judge, cache=None).execute().outcomes()]

    assert [outcome.score if isinstance(outcome, JudgeResult) else outcome.reason for outcome in outcomes] == [
        40.0,
        "the provider 'counting' registered from Python failed: KeyError: 'what the vendor forgot'",
        40.0,
    ]
    assert {outcome.provenance.provider for outcome in outcomes if outcome.provenance} == {"counting"}


async def _never(request):
    await asyncio.sleep(60)


def test_the_timeout_of_a_call_holds_for_a_provider_of_a_plugin():
    class Slow:
        def __init__(self, model):
            pass

        complete = staticmethod(_never)

    register.provider("slow")(Slow)
    with pytest.raises(TransientError, match="longer than 0.01 seconds"):
        run_sync(open_provider("slow/m", timeout_s=0.01).complete(Request(prompt="", model="m")))


def test_a_provider_that_cannot_be_opened_is_an_error_that_names_it():
    register.provider("odd")(lambda _: 1 / 0)

    with pytest.raises(ConfigError, match="the provider 'odd' .*failed: ZeroDivisionError"):
        open_provider("odd/m")
    with pytest.raises(UnknownNameError, match="odd") as caught:
        open_provider("od/m")
    assert "openai" in caught.value.known


class LengthJudge:
    def __init__(self, rubric, model):
        self.model = model

    async def judge(self, item, *, repeat=0):
        if not item.candidate:
            raise ValueError("nothing to measure")
        return JudgeResult(score=float(len(item.candidate)), reason=f"{self.model} {item.language}")


def test_a_judge_judges_items_with_provenance_and_its_exceptions_are_failures():
    register.judge("length")(LengthJudge)
    items = [Item("1", "four", language="de"), Item("2", "")]
    judge = judge_by_models(load_rubric("general"), [ModelName("length", "short")])
    first, second = (outcome for _, outcome in Run(items, judge, cache=None).execute().outcomes())

    assert isinstance(first, JudgeResult)
    assert (first.score, first.reason) == (4.0, "short de")
    assert first.provenance is not None
    assert (first.provenance.provider, first.provenance.model, first.model) == ("length", "short", "short")
    assert isinstance(second, Failure)
    assert second.reason == "the judge 'length' registered from Python failed: ValueError: nothing to measure"


def test_a_judge_in_a_jury_makes_its_calls_through_the_run():
    class Asking:
        def __init__(self, rubric, model):
            self.provider = None

        def bind(self, source):
            bound = Asking(None, "")
            bound.provider = source.around(ScriptedProvider(lambda _: "60"), ModelName("scripted", "m"))
            return bound

        async def judge(self, item, *, repeat=0):
            assert self.provider is not None
            reply = await self.provider.complete(Request(prompt=item.candidate, model="m"))
            return JudgeResult(score=float(reply.text), reason="")

    register.judge("asking")(Asking)
    register.judge("length")(LengthJudge)
    jury = judge_by_models(load_rubric("general"), [ModelName("asking", "default"), ModelName("length", "default")])
    run = Run([Item("1", "x" * 20)], jury, cache=None)
    [(_, outcome)] = run.execute().outcomes()

    assert isinstance(outcome, JudgeResult)
    assert outcome.score == 40.0
    assert run.budget.spent.calls == 1


def test_a_judge_plugin_can_be_named_on_the_command_line(in_folder, capsys):
    register.judge("length")(LengthJudge)
    (in_folder / "items.jsonl").write_text('{"id": "1", "candidate": "four"}\n')

    assert main(["score", "items.jsonl", "--rubric", "general", "--judge", "length", "--cache", "none"]) == 0
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (row["score"], row["provenance"]["provider"], row["provenance"]["model"]) == (4.0, "length", "default")


def test_a_judge_that_a_run_cannot_count_is_not_asked_in_a_dry_run():
    asked = []

    class Paid:
        def __init__(self, rubric, model):
            pass

        async def judge(self, item, *, repeat=0):
            asked.append(item.id)
            return JudgeResult(1.0, "")

    register.judge("paid")(Paid)
    for judge in (judge_by_models(load_rubric("general"), [ModelName("paid", "default")]), Paid(None, "")):
        run = Run([Item("1", "text")], judge, cache=None)
        assert run.estimate().calls == 0
        assert asked == []
        run.execute()
        assert asked.pop() == "1"


def test_a_judge_judges_each_output_alone_where_models_judge_several_in_a_call(in_folder, capsys):
    class Fine:
        def __init__(self, rubric, model):
            self.names = [criterion.name for criterion in rubric.criteria]

        async def judge(self, item, *, repeat=0):
            return JudgeResult(5.0, "fine", dict.fromkeys(self.names, 5.0), flags={"isCorrectLanguage": True})

    register.judge("fine")(Fine)
    prompt = {"sourceText": "Good morning.", "prompt": "", "generatedOutput": "Guten Morgen."}
    german = {"languageName": "German", "languageCode": "de", "prompts": [prompt]}
    (in_folder / "results.json").write_text(json.dumps({"results": [german]}))

    for command in ("quick", "full"):
        options = ["--judge", "fine", "--cache", "none", "--format", "json"]
        assert main(["translation", command, "results.json", *options]) == 0
        assert '"PASS"' in capsys.readouterr().out


@pytest.mark.parametrize("options", [["score", "items.jsonl", "--rubric", "general", "--batch"], ["calibrate", "bias"]])
def test_where_only_models_can_judge_a_judge_of_a_plugin_is_refused_in_these_words(options, in_folder, capsys):
    register.judge("length")(LengthJudge)
    (in_folder / "items.jsonl").write_text('{"id": "1", "candidate": "four"}\n')

    assert main([*options, "--judge", "length"]) == 2
    assert (
        "the judge 'length' registered from Python is a judge plugin, not a model; it cannot be used for batches"
        in capsys.readouterr().err
    )


def test_a_perturbation_is_applied_by_its_name_and_seed():
    @register.perturbation("louder")
    def louder(draft):
        stops = [place for place, sign in enumerate(draft.text) if sign == "."]
        return plan_edits(draft.text, [Edit(place, place + 1, "!") for place in stops])

    register.perturbation("odd")(lambda _: "no plan")

    assert apply_perturbation("One. Two. Three.", "louder", 1.0) == "One! Two! Three!"
    assert apply_perturbation("no stop", "louder", 1.0) == "no stop"
    with pytest.raises(ConfigError, match="the perturbation 'odd' registered from Python returned 'no plan'"):
        apply_perturbation("text", "odd", 1.0)
    with pytest.raises(UnknownNameError, match="louder"):
        apply_perturbation("text", "loudest", 1.0)


class Cards:
    suffixes = (".cards",)

    def recognises(self, path, head):
        return head.startswith(b"cards")

    def read(self, path):
        for line in path.read_text().splitlines()[1:]:
            if line == "crash":
                raise ValueError("odd card")
            name, colon, text = line.partition(":")
            yield {"id": name, "candidate": text} if colon else "a card without a colon"


def test_a_format_gives_items_problems_and_errors_with_the_file(in_folder):
    register.format("cards")(Cards)
    path = in_folder / "items.cards"
    path.write_text("cards\n1:one\nno card\n3:three\n")
    source = read_items(path)

    assert [(item.id, item.candidate) for item in source] == [("1", "one"), ("3", "three")]
    assert source.survey().problems == (f"{path}:2: a card without a colon",)
    path.write_text("cards\ncrash\n")
    with pytest.raises(DataError, match=r"items\.cards: cannot be read: the format 'cards' .*odd card"):
        list(read_items(path))
    path.write_text("something else\n")
    with pytest.raises(DataError, match=r"unknown file format; supported: \.jsonl, \.csv, .*, \.cards"):
        list(read_items(path))


@pytest.mark.parametrize(("length", "count", "readings"), [(10, 1, 1), (10, 99, 1), (10, 100, 2), (600_000, 9, 3)])
def test_few_items_are_read_once_for_columns_survey_and_judging(in_folder, length, count, readings):
    opened = []

    class Counted(Cards):
        def read(self, path):
            opened.append(path)
            return super().read(path)

    register.format("cards")(Counted)
    path = in_folder / "items.cards"
    path.write_text("cards\n" + "".join(f"{number}:{'x' * length}\n" for number in range(count)))
    source = read_items(path)

    assert source.survey().count == len(list(source)) == count
    assert len(opened) == readings


def test_languages_are_added_to_the_table_and_known_ones_are_not_replaced():
    silesian = Language(tag="szl", name="Silesian", native_name="Ślōnskŏ gŏdka", scripts=("Latn",), family="Latin")
    before = len(language_table())
    listed = replace(silesian, tag="xx-made-up", name="Made up", scripts=["Latn"])
    register.language("more")(lambda: [silesian, listed, replace(silesian, tag="de", name="Teutonic")])

    with pytest.warns(PluginWarning, match="'de', which is ignored: the table has it already"):
        table = language_table()
    assert (len(table), table.find("Silesian"), table.find("de").name) == (before + 2, silesian, "German")
    assert table.find("xx-made-up").scripts == ("Latn",)
    assert language_table() is table
    assert [each.kind for each in check("Dobry dziyń, jak sie mosz?", language="szl")] == []


@pytest.mark.parametrize("wrong", [{"scripts": ("Abcd",)}, {"scripts": ()}, {"tag": ""}, {"name": ""}])
def test_a_language_that_could_not_be_checked_is_warned_of(wrong):
    fields = {"tag": "szl", "name": "Silesian", "native_name": "", "scripts": ["Latn"], "family": "Latin"}
    register.language("odd")(lambda: Language(**{**fields, **wrong}))

    with pytest.warns(PluginWarning, match="the language table 'odd' .*a language needs a tag"):
        assert language_table().find("szl") is None


def test_with_a_provider_and_no_model_results_name_the_provider():
    provider = ScriptedProvider(lambda _: '{"score": 1, "reason": "", "subscores": {}}')
    result = RubricJudge("general", provider=provider).score_sync("text")

    assert result.provenance is not None
    assert (result.provenance.model, result.provenance.provider) == ("scripted", "scripted")


def test_built_in_names_are_used_without_reading_entry_points(in_folder):
    """The table of plugins is read only for names that are not built in, and for all checks or languages."""
    (in_folder / "items.jsonl").write_text('{"id": "1", "candidate": "four"}\n')
    (in_folder / "answers.jsonl").write_text('{"text": "5"}\n')
    code = (
        "from polyjudge import read_items, RubricJudge, Run;"
        "Run(read_items('items.jsonl'), RubricJudge('general', model='scripted/answers.jsonl'), cache=None).execute();"
        "from polyjudge.plugins import PLUGINS; print(PLUGINS.is_read)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
