"""Review the messages of localisation files: checks, glossary, changes since a revision, meaning."""
