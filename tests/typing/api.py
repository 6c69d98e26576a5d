"""Never run, only checked, by two type checkers: the types are part of the API."""

from collections.abc import Iterator
from pathlib import Path
from typing import assert_type

from polyjudge import (
    BinaryJudge,
    Check,
    CheckedText,
    ChoiceJudge,
    Comparison,
    Draft,
    Edit,
    EditPlan,
    Failure,
    Finding,
    Format,
    Generated,
    Item,
    JudgeCache,
    JudgeResult,
    Jury,
    Language,
    Limits,
    Origin,
    PairwiseJudge,
    PairwiseResult,
    Provider,
    Reply,
    Report,
    Request,
    Review,
    ReviewFinding,
    Rubric,
    RubricCriterion,
    RubricJudge,
    Run,
    RunSummary,
    ScriptedProvider,
    TrustCard,
    check,
    compare,
    load_rubric,
    open_provider,
    parse_critique,
    parse_judge_json,
    plan_edits,
    read_items,
    read_results,
    register,
    render_report,
    report,
    review_files,
    trust_card,
)


class MyProvider:
    """A user's own provider needs no base class."""

    def __init__(self) -> None:
        self.origin = Origin("mine")

    async def complete(self, request: Request) -> Reply:
        return Reply(text=request.prompt, model=request.model)


provider: Provider = MyProvider()
scripted: Provider = ScriptedProvider(lambda request: request.prompt)

judge = RubricJudge([RubricCriterion("a", "b", weight=2.0)], model="opus", cache_db=Path("c.sqlite"), provider=provider)
assert_type(judge.score_sync("text", {"source": "x"}), JudgeResult)
assert_type(judge.score_batch_sync([("text", {}), "text"], concurrency=3), list[JudgeResult | Failure])
RubricJudge(load_rubric("translation"))

jury = Jury([judge, BinaryJudge(["yes", "no"]), ChoiceJudge({"a": 1.0, "b": 0.0}), Jury([judge])])
assert_type(jury.score_sync("text"), JudgeResult)
assert_type(PairwiseJudge().compare_sync("a", "b"), PairwiseResult)


async def asked() -> None:
    """The async side."""
    assert_type(await judge.score("text"), JudgeResult)
    assert_type(await judge.score_batch(["text"]), list[JudgeResult | Failure])


with JudgeCache("c.sqlite") as cache:
    assert_type(cache.get(JudgeCache.hash_key("m", "p", "c", seed=1)), JudgeResult | None)

assert_type(parse_critique("Score: 5").score, float | None)
parse_judge_json("{}", wanted=["score"])["score"]


assert_type(Run(read_items("a.csv"), judge, limits=Limits(max_cost_usd=5)).execute(), RunSummary)
assert_type(judge.score_batch_sync([Item("1", "text")]), list[JudgeResult | Failure])
assert_type(judge.score_sync("text").passed, bool | None)
assert_type(open_provider("openai/gpt-5-mini"), Provider)
assert_type(check("text", language="de", source="text", reference="text"), list[Finding])
assert_type(compare("a.jsonl", Path("b.jsonl"), allow_different=["judge"]), Comparison)
assert_type(report("results.json", full_judge="scores.json"), Report)
assert_type(review_files("locales", since="origin/main", glossary=Path("terms.csv")), Review)
assert_type(review_files([Path("de.po")], judge="openai/gpt-5-mini").findings, tuple[ReviewFinding, ...])
assert_type(trust_card(judge), TrustCard | None)
assert_type(trust_card("card.json"), TrustCard | None)
render_report(report("results.json"), "html")
for _, outcome in read_results("scores.jsonl"):
    assert_type(outcome, JudgeResult | Failure | Generated)


@register.provider("mine")
class PluginProvider:
    """A provider of a plugin needs one method."""

    def __init__(self, model: str) -> None:
        self.model = model

    async def complete(self, request: Request) -> Reply:
        return Reply(text="", model=self.model)


@register.judge("length")
class LengthJudge:
    """A judge of a plugin needs one method."""

    def __init__(self, rubric: Rubric, model: str) -> None:
        self.rubric = rubric

    async def judge(self, item: Item, *, repeat: int = 0) -> JudgeResult:
        return JudgeResult(score=1.0, reason="")


@register.check("by function")
def find(text: CheckedText) -> Iterator[Finding]:
    yield Finding("kind", "info", text.language.name, 0, 1)


@register.check("by class")
class Finder:
    """A check may be a class."""

    def find(self, text: CheckedText) -> list[Finding]:
        return []


a_check: Check = Finder()


@register.perturbation("mine")
def perturb(draft: Draft) -> EditPlan:
    return plan_edits(draft.text, [Edit(0, 1, "")])


@register.format("mine")
class MyFormat:
    """A format needs no base class."""

    suffixes = (".mine",)

    def recognises(self, path: Path, head: bytes) -> bool:
        return True

    def read(self, path: Path) -> Iterator[dict[str, str] | str]:
        yield {"id": "1"}


a_format: Format = MyFormat()


@register.language("mine")
def language() -> Language:
    return Language(tag="szl", name="Silesian", native_name="", scripts=("Latn",), family="Latin")
