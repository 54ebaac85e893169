"""The server: nodes fetch from it what was accepted, and say how it went (extra `[server]`)."""
