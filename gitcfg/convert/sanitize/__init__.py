"""Sanitizing: the same repository with every name and value replaced."""
