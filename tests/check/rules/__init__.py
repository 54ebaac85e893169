"""Checks of rules across nodes."""
