"""Tests of the program on a node."""
