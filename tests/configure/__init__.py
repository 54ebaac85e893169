"""`gitcfg configure`: what it finds out, and what is said in real terminals."""
