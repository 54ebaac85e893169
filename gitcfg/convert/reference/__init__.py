"""A reference of a site: each definition with its content and its uses."""
