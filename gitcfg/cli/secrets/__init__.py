"""What `gitcfg secret` can do, one file a command."""
