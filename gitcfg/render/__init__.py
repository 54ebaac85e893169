"""Files of nodes: formats, templates, digests. Pure: the same commit gives the same bytes."""
