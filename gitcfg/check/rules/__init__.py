"""The checks of rules and their allocations (GC4xx)."""
