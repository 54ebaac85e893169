"""Rules across nodes, measured: a case study, and fleets that are made to be hard."""
