"""Bounded concurrency, stop requests, and the entry from sync code."""
