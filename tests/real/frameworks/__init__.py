"""Programs that run the real evaluation frameworks, each in an environment of its own."""
