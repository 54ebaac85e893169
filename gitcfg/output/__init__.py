"""Rendered nodes in a folder, DIR/NODE/PATH, or on a ref of git: whole files, whenever the program ends."""
