"""Trees of files: a commit's, the index's, the work tree's, or a dictionary's."""
