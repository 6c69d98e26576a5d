"""Text in every script: segments, numbers, display, differences."""
