"""What nodes, parameters, features and groups are at commits, and what of it is not as before."""
