"""What is handed to a node: its configuration at a commit, and what must happen when it takes another one."""
