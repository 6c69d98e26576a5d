"""Localisation files: their layouts, formats, placeholders and plural forms, read into messages."""
