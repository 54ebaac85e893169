"""`gitcfg serve` and what belongs to it: where its database is, who holds tokens, how it is asked."""
