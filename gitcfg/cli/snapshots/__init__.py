"""What `gitcfg snapshot` can do, one file a command."""
