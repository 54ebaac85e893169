"""Targets' own parsers, which check rendered files in a guarded child process."""
