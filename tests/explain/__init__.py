"""Answers about fleets: trails in words, why, values, definitions, search."""
