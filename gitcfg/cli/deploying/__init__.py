"""`gitcfg deploy`: what is asked for, who follows it, and how it is told."""
