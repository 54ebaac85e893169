"""Runs: what many nodes are made to do, one visit at a time. All of it is pure: time and messages come in."""
