"""The import of a Wallaby store from its dump."""
