"""`polyjudge review --from`: a stored review in every format, its exit code, and what goes together."""

import json

import pytest
from msgspec.structs import replace
from tests.reports.reviews import REVIEW

from polyjudge.cli import main
from polyjudge.records.messages import Review
from polyjudge.reports.review_formats import REVIEW_FORMATS, render_review


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A stored review, and the name of its file in the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    def store(review=REVIEW):
        (tmp_path / "review.json").write_text(render_review(review, "json"), encoding="utf-8")
        return "review.json"

    return store


def test_every_format_is_rendered_from_the_stored_review(stored, capsys):
    name = stored()

    for form in REVIEW_FORMATS:
        assert main(["review", "--from", name, "--format", form]) == 1
        assert capsys.readouterr().out == render_review(REVIEW, form)


def test_it_passes_or_fails_as_the_review_did_unless_another_severity_is_given(stored):
    warned = stored(replace(REVIEW, findings=REVIEW.findings[1:2]))

    assert main(["review", "--from", warned]) == 0
    assert main(["review", "--from", warned, "--fail-on", "warn"]) == 1
    assert main(["review", "--from", stored(replace(REVIEW, fail_on="never"))]) == 0
    assert main(["review", "--from", stored(Review(findings=(), languages=()))]) == 0


def test_files_of_every_format_are_recognised_as_ours_and_replaced(stored, tmp_path):
    name = stored()

    for form in REVIEW_FORMATS:
        for _ in range(2):
            assert main(["review", "--from", name, "--format", form, "--output", f"out.{form}"]) == 1
    (tmp_path / "mine.html").write_text("mine", encoding="utf-8")
    assert main(["review", "--from", name, "--format", "html", "--output", "mine.html"]) == 2
    assert main(["review", "--from", name, "--format", "html", "--output", "review.json"]) == 2
    assert json.loads((tmp_path / "review.json").read_text(encoding="utf-8"))["findings"]


def test_annotations_come_with_a_summary_of_the_step(stored, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))

    main(["review", "--from", stored(), "--format", "github", "--name", "web"])

    summary = (tmp_path / "step.md").read_text(encoding="utf-8")
    assert summary.startswith("### Localisation review: web\n\nNot yet. **3 findings fail** in 2 of 5 languages")
    assert "::error file=locale/ar/app.po,line=12," in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "review.json", "locale"], "--from renders a stored review and takes no PATH"),
        (["--from", "review.json", "--since", "main"], "--since has no effect"),
        (["--from", "review.json", "--judge", "opus"], "--judge has no effect"),
        (["--from", "review.json", "--skip-checks", "numbers"], "--skip-checks has no effect"),
        (["--from", "absent.json"], "absent.json"),
        (["--from", "other.json"], "other.json: not a review of localisation files"),
        ([], "Name the files or folders to review"),
    ],
)
def test_what_does_not_go_together_is_one_clear_message(stored, tmp_path, capsys, arguments, message):
    stored()
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")

    assert main(["review", *arguments]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""


def test_what_a_project_sets_for_its_reviews_does_not_matter_to_a_stored_one(stored, tmp_path):
    (tmp_path / "polyjudge.toml").write_text('[review]\njudge = "opus"\nsource = "fr"\n', encoding="utf-8")

    assert main(["review", "--from", stored()]) == 1
