"""Rendered nodes in a folder, DIR/NODE/PATH, or on a git ref.

Files are complete, even after an interruption.
"""
