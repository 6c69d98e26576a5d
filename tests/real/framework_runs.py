"""What a model answers to the frameworks: capitals, and verdicts of them."""

import json

_CAPITALS = {"France": "Paris", "Spain": "Rome", "Peru": "Lima"}
_JUDGES = ("[BEGIN DATA]", "[JUDGE]", "Evaluation Steps")


def answer(model: str, prompt: str) -> str:
    """Return the capital of the country, or a judge's verdict, which for Peru cannot be read."""
    country = next((each for each in _CAPITALS if each in prompt), "")
    if not any(mark in prompt for mark in _JUDGES):
        return _CAPITALS.get(country, "I do not know.") + (" of course" if model == "gpt-large" else "")
    if country == "Peru":
        return "I would rather not say."
    good = country == "France"
    if "[BEGIN DATA]" in prompt:  # Inspect
        return f"It is {'right' if good else 'wrong'}.\n\nGRADE: {'C' if good else 'I'}"
    score = (10 if good else 3) if "Evaluation Steps" in prompt else 0.9 if good else 0.2
    if "<Rubric>" not in prompt and "Evaluation Steps" not in prompt:
        score = 5 if good else 2
    return json.dumps({"score": score, "reason": f"{country}: checked", "pass": good})
