"""The gate: judges what is pushed before it is accepted, and what follows when it is."""
