"""Changes to repositories on disk."""
