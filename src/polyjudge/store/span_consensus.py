"""Files of what was learnt about combining the error spans of several judges."""

from pathlib import Path

from polyjudge.errors import ConfigError, DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import readable_json
from polyjudge.records.codec import to_json
from polyjudge.records.spans import CONSENSUS_VERSION, SpanConsensus
from polyjudge.verdicts.span_consensus import check_consensus

from .documents import Document, read_document

_CONSENSUS = Document(
    SpanConsensus,
    "a consensus of error spans",
    "learn one with calibrate consensus",
    kind="span consensus",
    version=CONSENSUS_VERSION,
)


def write_consensus(path: Path, consensus: SpanConsensus, *, force: bool = False) -> None:
    """Write what was learnt."""
    with write_atomically(path, force=force) as file:
        file.write(readable_json(to_json(consensus), indent=1) + "\n")


def read_consensus(path: Path) -> SpanConsensus:
    """Read what was learnt; raise DataError for another file, or one that does not fit together."""
    consensus = read_document(path, _CONSENSUS)
    try:
        check_consensus(consensus)
    except ConfigError as error:
        raise DataError(str(error), path=path) from None
    return consensus
