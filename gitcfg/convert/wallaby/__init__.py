"""A dump of a Wallaby store as a repository in format 1."""
