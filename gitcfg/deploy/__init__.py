"""Deployment of a commit to nodes over SSH: one connection per node, with a record of each result."""
