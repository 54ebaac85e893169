"""Tests of the installation on a node."""
