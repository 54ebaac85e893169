"""The command line: one file for each command, thin over the library."""
