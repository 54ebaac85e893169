"""What is wrong with what rules ask of nodes together, and with what was decided for them (GC4xx)."""
