"""JSON Schemas for editors, with the names of a repository, and the settings by which editors find them."""
