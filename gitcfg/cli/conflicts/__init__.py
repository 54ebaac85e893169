"""Conflicts of `gitcfg undo`, by entity and parameter: told, settled as the options say, or asked about."""
