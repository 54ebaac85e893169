"""Installs a commit on nodes over SSH: one connection a node, and what became of each is kept."""
