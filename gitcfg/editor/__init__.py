"""What editors are told of a repository: JSON Schemas with its names, and how they find them."""
