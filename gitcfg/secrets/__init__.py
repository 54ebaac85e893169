"""Secrets opened and sealed: age by pyrage. Who may have which is said by model.secrets."""
