"""The checks of a fleet: one small function for each code, all run together."""
