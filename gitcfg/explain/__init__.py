"""Explanations: trails in words, and the records that programs read."""
