"""The kinds of definitions, each with the fields that are shown."""
