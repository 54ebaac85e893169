"""Pictures of a fleet as data: features and their relations, groups and members, the layers of a node."""
