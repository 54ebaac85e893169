"""`gitcfg configure`: a conversation about what a node or group has."""
