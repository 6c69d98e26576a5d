"""Batch APIs of the vendors."""
