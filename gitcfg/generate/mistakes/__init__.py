"""Mistakes on purpose."""
