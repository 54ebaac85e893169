"""The server, from which nodes fetch accepted commits, and to which they report (extra `[server]`)."""
