"""The table of languages."""
