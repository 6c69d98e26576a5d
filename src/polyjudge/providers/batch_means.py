"""What the batches of one model in one run work with."""

from dataclasses import dataclass, field

from polyjudge.cache import Cache
from polyjudge.files import BatchJournal

from .adapting import ParameterFilter
from .batch_clients import BatchClient
from .batch_patience import BatchPatience
from .metering import Meter
from .naming import ModelName, Price


@dataclass(frozen=True, slots=True)
class BatchMeans:
    """Who is asked, where it is written down, and who pays."""

    name: ModelName
    client: BatchClient
    journal: BatchJournal
    cache: Cache
    meter: Meter
    price: Price | None
    """What a batch costs, not what single calls do."""
    parameters: ParameterFilter
    patience: BatchPatience = field(default_factory=BatchPatience)
    since: str = ""
    """From when on the run takes replies from the cache, ISO 8601."""
