"""The generator of random repositories."""
