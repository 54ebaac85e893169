"""The commits that changed a result, and the commits that made entries what they are."""
