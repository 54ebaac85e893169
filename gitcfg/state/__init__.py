"""The state database: what is known of nodes beside git, in SQLite or PostgreSQL."""
