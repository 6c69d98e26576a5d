"""pydantic-evals: a dataset whose task gives the text that is there, and `LLMJudge`; the prompt is its own."""

from given import AT_ONCE, BASE_URL, CRITERIA, ITEMS, check
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import LLMJudge


async def the_text(candidate: str) -> str:
    return candidate


model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=BASE_URL, api_key="k"))
judge = LLMJudge(rubric="\n".join(CRITERIA), model=model, score={"include_reason": True}, assertion=False)
dataset = Dataset(
    name="items", cases=[Case(name=row["id"], inputs=row["candidate"]) for row in ITEMS], evaluators=[judge]
)
report = dataset.evaluate_sync(the_text, max_concurrency=AT_ONCE, progress=False)
check({case.name: case.scores["LLMJudge"].value for case in report.cases}, highest=10)
