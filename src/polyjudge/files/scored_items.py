"""The scores of a run's items in the order of language and id, on disk: a run may have more than memory holds."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .scratch_tables import open_scratch, stored, unstored

_SCHEMA = """
CREATE TABLE items (language BLOB, id BLOB, score REAL, cluster BLOB, PRIMARY KEY (language, id)) WITHOUT ROWID
"""


class ScoredItem(NamedTuple):
    """What a judge says of one item; it is the same in two runs where language and id are."""

    language: str
    id: str
    score: float | None = None
    """None where the judge could not say."""
    cluster: str = ""
    """What it belongs together with, where the file says so."""

    @property
    def key(self) -> tuple[str, str]:
        """By this an item is known."""
        return self.language, self.id


class ScoredItems:
    """Items with their scores; iterating gives them by language and id."""

    def __init__(self, items: Iterable[ScoredItem] = ()) -> None:
        self._scratch = open_scratch(self, _SCHEMA)
        self.names_languages = False
        self.has_clusters = False
        self._is_indexed = False
        self._count = 0
        for item in items:
            self.add(item)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[ScoredItem]:
        for language, item_id, score, cluster in self._scratch.execute("SELECT * FROM items ORDER BY language, id"):
            yield ScoredItem(unstored(language), unstored(item_id), score, unstored(cluster))

    def add(self, item: ScoredItem) -> bool:
        """Take in an item; say whether there was none of its language and id before."""
        values = (stored(item.language), stored(item.id), item.score, stored(item.cluster))
        is_new = self._scratch.execute("INSERT OR IGNORE INTO items VALUES (?, ?, ?, ?)", values).rowcount == 1
        self._count += is_new
        self.names_languages = self.names_languages or bool(item.language)
        self.has_clusters = self.has_clusters or bool(item.cluster)
        return is_new

    def put_cluster(self, language: str, item_id: str, cluster: str) -> None:
        """Say what an item belongs together with, if it is here."""
        values = (stored(cluster), stored(language), stored(item_id))
        self._scratch.execute("UPDATE items SET cluster = ? WHERE language = ? AND id = ?", values)

    def only_language(self, item_id: str) -> str:
        """Return the language in which an id stands; nothing where it stands in none or in several."""
        if not self._is_indexed:
            self._scratch.execute("CREATE INDEX by_id ON items (id)")
            self._is_indexed = True
        query = "SELECT language FROM items WHERE id = ? LIMIT 2"
        found = self._scratch.execute(query, (stored(item_id),)).fetchall()
        return unstored(found[0][0]) if len(found) == 1 else ""


class Names:
    """Distinct names, each with a number as they come."""

    def __init__(self) -> None:
        self._scratch = open_scratch(self, "CREATE TABLE names (name BLOB PRIMARY KEY, number INTEGER) WITHOUT ROWID")
        self._count = 0

    def number(self, name: str) -> int:
        """Return the number of a name, a new one if need be; the first is 0."""
        own = stored(name)
        found = self._scratch.execute("SELECT number FROM names WHERE name = ?", (own,)).fetchone()
        if found is not None:
            return found[0]
        self._scratch.execute("INSERT INTO names VALUES (?, ?)", (own, self._count))
        self._count += 1
        return self._count - 1

    def in_order(self) -> Iterator[int]:
        """Yield the numbers in the order of their names."""
        return (number for (number,) in self._scratch.execute("SELECT number FROM names ORDER BY name"))
