"""How a commit reaches nodes: in which order, how far it has got, and when it goes no further."""
