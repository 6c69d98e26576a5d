"""Run files, run folders, labels and trust cards on disk."""
