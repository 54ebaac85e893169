"""`gitcfg solve`: what rules leave open is decided, told, and written."""
