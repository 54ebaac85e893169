"""Who may change what: what a change touches by its meaning, and what the rules before it say of that."""
