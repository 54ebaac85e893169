"""What a node gets: its configuration at a commit, and what it must do to change to another one."""
