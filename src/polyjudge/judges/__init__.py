"""Judges, and the parsing of their replies."""
