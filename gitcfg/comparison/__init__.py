"""Two fleets side by side: what changes where, and what must happen then."""
