"""Pages that a person acts on: labelling what was judged, and looking at runs; on loopback alone."""
