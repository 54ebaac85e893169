"""Laws that hold for every repository, tried on random ones."""
