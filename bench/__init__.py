"""Measurements of gitcfg beside other tools: `make bench`, or `python -m bench --help`."""
