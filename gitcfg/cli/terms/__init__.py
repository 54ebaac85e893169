"""What `gitcfg hold` and `gitcfg override` can do, one file a command."""
