"""Comparison of two fleets: what changes on which nodes, and which actions are due then."""
