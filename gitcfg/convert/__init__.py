"""Imports of other tools' configuration, and conversions of a repository."""
