"""Edits of YAML text that keep every byte outside what is edited."""
