"""The gate: judges a push before it is accepted, and updates notes and the cache afterwards."""
