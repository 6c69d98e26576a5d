"""The plan of a sample of items to label."""

from msgspec import Struct

from .codec import Number


class PlannedItem(Struct, frozen=True, kw_only=True, rename="camel"):
    """An item of the sample."""

    id: str
    language: str = ""
    inclusion_probability: Number
    """The probability that it had of being in the sample."""


class SamplePlan(Struct, frozen=True, kw_only=True, rename="camel"):
    """An informative sample, as it was drawn: labelling is resumed with the same items and probabilities."""

    seed: int
    size: int
    """The number of items that was asked for."""
    candidates: int
    """The number of items from which it was drawn."""
    items: tuple[PlannedItem, ...]
