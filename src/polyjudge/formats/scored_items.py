"""Keep the scores of items on disk, sorted by language and id."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from polyjudge.files.spill import from_blob, open_scratch, to_blob

_SCHEMA = """
CREATE TABLE items (
    language BLOB, id BLOB, score REAL, cluster BLOB, content BLOB, place INTEGER, system INTEGER,
    ratings INTEGER,
    PRIMARY KEY (language, id)
) WITHOUT ROWID
"""
_CONTENT_BYTES = 12


class ScoredItem(NamedTuple):
    """The score of one item, which is identified by language and id."""

    language: str
    id: str
    score: float | None = None
    """None if there is no verdict."""
    cluster: str = ""
    """The cluster of the item, if the file names one."""
    place: int = -1
    """The number of items before it in the file; -1 if it is not read from one."""

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the item across runs."""
        return self.language, self.id


class ScoredItems:
    """Items with their scores, sorted by language and id."""

    def __init__(self, items: Iterable[ScoredItem] = ()) -> None:
        self._scratch = open_scratch(self, _SCHEMA)
        self.names_languages = False
        self.has_clusters = False
        self.joins_content = False
        """Items with the same content are a cluster, in place of the named ones."""
        self._is_indexed = False
        self._count = 0
        for item in items:
            self.add(item)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[ScoredItem]:
        query = f"SELECT language, id, score, {self._cluster}, place FROM items ORDER BY language, id"
        for language, item_id, score, cluster, place in self._scratch.execute(query):
            yield ScoredItem(from_blob(language), from_blob(item_id), score, from_blob(cluster), place)

    def at(self, places: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return the languages and ids of the items at some places in the file."""
        wanted = list(places)
        query = f"SELECT place, language, id FROM items WHERE place IN ({', '.join('?' * len(wanted))})"
        return {
            place: (from_blob(language), from_blob(item_id))
            for place, language, item_id in self._scratch.execute(query, wanted)
        }

    @property
    def _cluster(self) -> str:
        return "content" if self.joins_content else "cluster"

    def add(self, item: ScoredItem, system: int = 0, content: str = "") -> bool:
        """Add an item; return whether its language and id are new. `system` is the number of its system."""
        is_rated = item.score is not None
        texts = to_blob(item.language), to_blob(item.id)
        values = (
            *texts,
            item.score,
            to_blob(item.cluster),
            _digest(content),
            self._count if item.place < 0 else item.place,
            system,
            is_rated,
        )
        query = "INSERT OR IGNORE INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        is_new = self._scratch.execute(query, values).rowcount == 1
        self._count += is_new
        self.names_languages = self.names_languages or bool(item.language)
        self.has_clusters = self.has_clusters or bool(item.cluster)
        return is_new

    def add_rating(self, item: ScoredItem) -> None:
        """Add a rating of another person to an item that exists: its score becomes the mean of all ratings."""
        if item.score is not None:
            query = (
                "UPDATE items SET score = (COALESCE(score, 0) * ratings + ?) / (ratings + 1), ratings = ratings + 1 "
                "WHERE language = ? AND id = ?"
            )
            self._scratch.execute(query, (item.score, to_blob(item.language), to_blob(item.id)))

    def system_of(self, item: ScoredItem) -> int:
        """Return the number of the system of an item that exists."""
        query = "SELECT system FROM items WHERE language = ? AND id = ?"
        return self._scratch.execute(query, (to_blob(item.language), to_blob(item.id))).fetchone()[0]

    def get(self, language: str, item_id: str) -> ScoredItem | None:
        """Return the item with this language and id, if it exists."""
        query = f"SELECT score, {self._cluster} FROM items WHERE language = ? AND id = ?"
        found = self._scratch.execute(query, (to_blob(language), to_blob(item_id))).fetchone()
        return ScoredItem(language, item_id, found[0], from_blob(found[1])) if found is not None else None

    def only_language(self, item_id: str) -> str:
        """Return the language of an id; empty if the id occurs in no language or in several."""
        if not self._is_indexed:
            self._scratch.execute("CREATE INDEX by_id ON items (id)")
            self._is_indexed = True
        query = "SELECT language FROM items WHERE id = ? LIMIT 2"
        found = self._scratch.execute(query, (to_blob(item_id),)).fetchall()
        return from_blob(found[0][0]) if len(found) == 1 else ""


def _digest(content: str) -> bytes:
    """Return a short name of a content; empty if there is none."""
    return blake2b(to_blob(content), digest_size=_CONTENT_BYTES).hexdigest().encode() if content else b""
