"""`gitcfg deploy`: options, the choice of commit and nodes, the run with its listeners, and its output."""
