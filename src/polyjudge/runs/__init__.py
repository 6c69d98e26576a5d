"""Runs: the provider stack, local, batch and Ray execution, and the summary."""
