#!/usr/bin/env python3
"""A translator for the examples: reads texts line by line, and knows two of them."""

import sys

SPANISH = {
    "Good morning, my friend.": "Buenos días, amigo mío.",
    "Where is the station?": "¿Dónde está la estación?",
}

for line in sys.stdin:
    print(SPANISH.get(line.strip(), "No sé qué significa eso."), flush=True)
