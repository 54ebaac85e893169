"""Tests of what comes from other tools."""
