"""The files of the translation suite fit the schemas that ship with the package."""

import json

import jsonschema
import referencing

from polyjudge.cli import main
from polyjudge.records.codec import schema, schema_names


def test_written_files_fit_their_schemas(demo, tmp_path):
    folder = demo.folder / "polyjudge-demo"
    report, checked = tmp_path / "report.json", tmp_path / "checked.json"
    results = str(folder / "results.json")
    main(["report", "--results", results, "--format", "json", "--output", str(report)])
    main(["translation", "check", results, "--output", str(checked)])
    resources = [(f"{each}.schema.json", referencing.Resource.from_contents(schema(each))) for each in schema_names()]
    registry = referencing.Registry().with_resources(resources)

    for file, name in (
        (folder / "results.json", "translation-results"),
        (checked, "translation-results"),
        (folder / "results-full-judge.json", "translation-scores"),
        (report, "translation-report"),
        (folder / "card.json", "trust-card"),
    ):
        validator = jsonschema.Draft202012Validator(schema(name), registry=registry)
        written = json.loads(file.read_text(encoding="utf-8"))

        assert list(validator.iter_errors(written)) == [], file.name
        if name != "trust-card":  # which is made in one language of each script
            rows = written if isinstance(written, list) else written.get("results") or written["verdicts"]
            assert len(rows) == 73, file.name
