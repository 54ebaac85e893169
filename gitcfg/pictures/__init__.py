"""Pictures of a fleet as data: features and what goes with them, groups and members, the layers of a node."""
