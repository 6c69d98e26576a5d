"""Files on disk: atomic writes, locks, JSON Lines, safe names."""
