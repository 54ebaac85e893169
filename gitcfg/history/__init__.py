"""Which commits changed a result, and which made an entry what it is."""
