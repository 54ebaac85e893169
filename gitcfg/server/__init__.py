"""The server, from which nodes fetch what was accepted, and to which they report (extra `[server]`)."""
