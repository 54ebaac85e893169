"""`gitcfg deploy`: options, what is deployed where, the run with its listeners, and its output."""
