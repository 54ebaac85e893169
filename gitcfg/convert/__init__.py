"""From other tools' configuration to a repository in format 1."""
