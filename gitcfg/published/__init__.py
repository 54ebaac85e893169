"""Rendered nodes as commits on a ref, NODE/PATH: what changed is written, and what did not stays."""
