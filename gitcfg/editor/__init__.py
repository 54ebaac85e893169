"""What editors need to know of a repository: JSON Schemas with its names, and how they find them."""
