"""Read reference texts from a translator's results, any table, or the shipped sample."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from polyjudge.errors import DataError
from polyjudge.languages.table import LANGUAGE, LanguageMatcher, LanguageTags
from polyjudge.records.calibration import ReferenceText

from .columns import AS_IT_IS, TableOptions
from .items import Problems
from .row_files import Place, named_rows_of
from .translation_results import TranslationResults, is_results_file

_TEXT_COLUMNS = ("candidate", "reference", "generatedOutput")
_LANGUAGE_COLUMNS = ("language", "languageCode")
_SOURCE_COLUMNS = ("source", "sourceText")


@dataclass(frozen=True, slots=True)
class ReferenceTexts:
    """The texts of a file, with messages about invalid rows."""

    texts: tuple[ReferenceText, ...]
    problems: tuple[str, ...] = ()
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class TextSource:
    """Reference texts of a file, selected by filters."""

    path: Path
    column: str = ""
    """The column of the text; empty for `candidate`, else `reference`, else `generatedOutput`."""
    filters: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    table: TableOptions = AS_IT_IS
    matcher: LanguageMatcher = field(default_factory=LanguageMatcher, compare=False, repr=False)

    def read(self) -> ReferenceTexts:
        """Read the file; rows without text are counted, and a duplicate id within a language is an error."""
        texts, problems = list[ReferenceText](), Problems()
        places: dict[tuple[str, str], Place] = {}
        for place, found in self._all():
            if isinstance(found, str):
                problems.note(place, found)
                continue
            key = found.language, found.id
            if key in places:
                message = f"duplicate id {found.id!r}, first {place.other(places[key])}"
                raise DataError(message, path=place.path, line=place.line)
            places[key] = place
            texts.append(found)
        if not texts:
            close = self.matcher.suggestions(self.filters.get(LANGUAGE, ()))
            raise DataError(f"no texts to perturb{problems.why}{f'.{close}' if close else ''}", path=self.path)
        return ReferenceTexts(tuple(texts), tuple(problems.named), problems.count)

    def _all(self) -> Iterator[tuple[Place, ReferenceText | str]]:
        if is_results_file(self.path, self.table):
            yield from self._of_results()
            return
        tags = LanguageTags()
        for place, row in named_rows_of(self.path, self.table, *(() if self.column else ("candidate", "reference"))):
            if isinstance(row, str):
                yield place, row
            elif self._is_wanted(row):
                yield place, self._text(row, place.line, tags)

    def _of_results(self) -> Iterator[tuple[Place, ReferenceText | str]]:
        """Yield the references of translation results, or the outputs if there are none."""
        if self.column not in ("", "reference", "generatedOutput"):
            raise DataError(f"unknown column {self.column!r}; available: reference, generatedOutput", path=self.path)
        results, place = TranslationResults(self.path, self.table), Place(self.path, 0)
        for language in results:
            tag = language.language_code or language.language_name
            if not self._is_wanted({"language": tag}):
                continue
            for index, prompt in enumerate(language.prompts):
                named = {"reference": prompt.reference, "generatedOutput": prompt.generated_output}
                columns = (self.column,) if self.column else tuple(named)
                text = next((named[name] for name in columns if named.get(name, "").strip()), "")
                if text:
                    yield place, ReferenceText(id=str(index), text=text, language=tag, source=prompt.source_text)
        for problem in results.problems:
            yield place, problem

    def _is_wanted(self, row: Mapping[str, Any]) -> bool:
        return self.matcher.selects(self.filters, lambda name: str(row.get(name, "")))

    def _text(self, row: Mapping[str, Any], line: int, tags: LanguageTags) -> ReferenceText | str:
        columns = (self.column,) if self.column else _TEXT_COLUMNS
        text = _first(row, columns)
        if not text.strip():
            return f"no text in {' or '.join(map(repr, columns))}"
        used = next(name for name in columns if _first(row, (name,)))
        context = {name: str(row[name]) for name in ("reference", "context") if row.get(name) and name != used}
        return ReferenceText(
            id=str(line if row.get("id") in (None, "") else row["id"]),
            text=text,
            language=tags[_first(row, _LANGUAGE_COLUMNS)],
            source=_first(row, _SOURCE_COLUMNS),
            context=context,
        )


def _first(row: Mapping[str, Any], columns: tuple[str, ...]) -> str:
    return next((str(row[name]) for name in columns if isinstance(row.get(name), str) and row[name].strip()), "")


def sample_texts() -> tuple[ReferenceText, ...]:
    """Return the texts of the shipped sample."""
    sources, languages = sample_table()
    return tuple(
        ReferenceText(id=category, text=text, language=tag, source=sources[category])
        for tag, row in languages.items()
        for category, text in row.items()
        if text
    )


@lru_cache(maxsize=1)
def sample_table() -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """Return the English sources by category, and their translations by language tag."""
    text = (files("polyjudge.formats") / "sample.tsv").read_text(encoding="utf-8")
    sources, *rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    del sources["tag"]
    return sources, {row.pop("tag"): row for row in rows}
