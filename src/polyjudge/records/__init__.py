"""Plain data that crosses package boundaries, and its encoding."""
