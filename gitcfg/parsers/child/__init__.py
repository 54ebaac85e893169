"""The guarded child's side of judging texts: one module a format."""
