"""Candidates for the word at the cursor of a shell: fast, so without typer, rich, msgspec and pygit2."""
