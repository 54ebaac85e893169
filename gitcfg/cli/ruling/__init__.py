"""`gitcfg rules`: what rules are about, and how much room they leave."""
