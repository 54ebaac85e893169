"""Rendered nodes in a folder, or on a ref of git."""
