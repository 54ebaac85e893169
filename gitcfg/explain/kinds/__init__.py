"""The kinds of definitions, each with what there is to tell of it."""
