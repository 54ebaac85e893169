"""Answers kept beside a repository's objects: checked and never simply believed, safe to delete."""
