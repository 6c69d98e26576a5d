"""Intervals, agreement, corrections and comparisons."""
