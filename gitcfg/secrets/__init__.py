"""Secrets decrypted and encrypted with age. Which nodes may have a secret is decided in model.secrets."""
