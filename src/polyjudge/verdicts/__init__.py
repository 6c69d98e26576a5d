"""The rules that decide whether an item, a language or a run passes."""
