"""Trails in words, and the records that programs read."""
