"""Placeholders."""


def placeholder_findings(message, language):
    return ()
