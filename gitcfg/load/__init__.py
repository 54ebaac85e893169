"""From a tree to a Model: documents with origins, validated with their schemas."""
