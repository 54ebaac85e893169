"""The meaning of rules for a fleet: their effects on nodes, and what they require of them."""
