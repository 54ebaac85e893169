"""From a tree to a Model: documents with origins, judged by their schemas."""
