"""Pictures of a fleet as data: what its features go with, who is in which group, how a node's layers lie."""
