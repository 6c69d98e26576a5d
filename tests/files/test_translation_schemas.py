"""The files of the translation suite fit the schemas that ship with the package."""

import json

import jsonschema
import pytest
import referencing

from polyjudge.cli import main
from polyjudge.files import schema, schema_names


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    results = str(folder / "polyjudge-demo" / "results.json")
    main(["demo", "--output", str(folder / "polyjudge-demo")])
    main(["report", "--results", results, "--format", "json", "--output", str(folder / "report.json")])
    main(["translation", "check", results, "--output", str(folder / "checked.json")])
    return folder


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("polyjudge-demo/results.json", "translation-results"),
        ("checked.json", "translation-results"),
        ("polyjudge-demo/results-full-judge.json", "translation-scores"),
        ("report.json", "translation-report"),
        ("polyjudge-demo/card.json", "trust-card"),
    ],
)
def test_what_is_written_fits_its_schema(demo, file, name):
    resources = [(f"{each}.schema.json", referencing.Resource.from_contents(schema(each))) for each in schema_names()]
    validator = jsonschema.Draft202012Validator(schema(name), registry=referencing.Registry().with_resources(resources))

    written = json.loads((demo / file).read_text(encoding="utf-8"))

    assert list(validator.iter_errors(written)) == []
    if name != "trust-card":  # which is made in one language of each script
        assert len(written if isinstance(written, list) else written.get("results") or written["verdicts"]) == 73
