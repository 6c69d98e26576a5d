"""Reports on finished runs, in every format."""
