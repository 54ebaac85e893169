"""The state database: what is known of nodes besides git, in SQLite or PostgreSQL."""
