"""The rules that decide whether an item, a language or a run passes, and what several judges say together."""
