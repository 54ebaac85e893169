"""Runs: tasks on many nodes, one visit per node. Everything is pure: time and messages are inputs."""
