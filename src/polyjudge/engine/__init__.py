"""How much work is done at once."""

from typing import TYPE_CHECKING

from polyjudge.lazy import lazily

if TYPE_CHECKING:
    from .pool import Stop, in_order, together, unless_stopped
    from .ray_cluster import Finished, RayCluster, Tell, Work, need_ray, ray_cluster
    from .running import run_sync

__all__ = [
    "Finished",
    "RayCluster",
    "Stop",
    "Tell",
    "Work",
    "in_order",
    "need_ray",
    "ray_cluster",
    "run_sync",
    "together",
    "unless_stopped",
]

lazily(__name__)
