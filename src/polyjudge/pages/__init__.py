"""Pages that a person acts on: labelling what was judged, and looking at runs; on loopback alone."""

from .asked import Sample, Source, read_sample
from .label_site import LabelSite
from .labelling import SCALES, Labelling, Task
from .server import HOST, Site, application, serve
from .viewing import ViewSite

__all__ = [
    "HOST",
    "SCALES",
    "LabelSite",
    "Labelling",
    "Sample",
    "Site",
    "Source",
    "Task",
    "ViewSite",
    "application",
    "read_sample",
    "serve",
]
