"""The import of HTCondor's configuration files."""
