"""Tests of what targets' own parsers say of rendered files."""
