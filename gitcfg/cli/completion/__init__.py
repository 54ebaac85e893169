"""Candidates for the word at the cursor, for shells: quick, so without typer, rich, msgspec and pygit2."""
