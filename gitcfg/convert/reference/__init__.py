"""A reference of one's own site: each definition with what it says and what uses it."""
