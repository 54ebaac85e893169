"""What `gitcfg configure` finds out between two edits: who is meant, what is wanted, what is idle."""
