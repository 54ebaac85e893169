"""`gitcfg configure`: an interactive dialog about a node or group."""
