"""Inspect AI: a task whose solver gives the text that is there, and `model_graded_qa` with polyjudge's prompt."""

from given import AT_ONCE, BASE_URL, CACHED, ITEMS, check, prompt_for_format
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, ModelOutput, get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import Generate, Solver, TaskState, solver


@solver
def the_text() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - Inspect passes it
        state.output = ModelOutput.from_content("none", state.metadata["candidate"])
        return state

    return solve


config = GenerateConfig(max_connections=AT_ONCE, cache=True if CACHED else None)
judge = get_model("openai-api/loop/m", base_url=BASE_URL, api_key="k", config=config)
task = Task(
    dataset=[Sample(id=row["id"], input=row["source"], metadata={"candidate": row["candidate"]}) for row in ITEMS],
    solver=the_text(),
    scorer=model_graded_qa(prompt_for_format("answer", "question"), grade_pattern=r'"score": (\d+)', model=judge),
)
[log] = eval(task, model=judge, max_connections=AT_ONCE, max_samples=AT_ONCE, display="none", log_dir="inspect-logs")
check({str(sample.id): float(sample.scores["model_graded_qa"].value) for sample in log.samples}, highest=10)
