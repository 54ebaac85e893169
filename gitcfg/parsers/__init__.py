"""Targets' own parsers, which judge rendered files in a guarded child process."""
