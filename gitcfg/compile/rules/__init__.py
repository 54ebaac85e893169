"""What rules across nodes mean for a fleet: what they bring to nodes, and what they ask of them."""
