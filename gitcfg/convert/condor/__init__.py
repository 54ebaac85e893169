"""HTCondor's configuration files as a repository in format 1."""
