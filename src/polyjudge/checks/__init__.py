"""Checks of a text that need no model."""
