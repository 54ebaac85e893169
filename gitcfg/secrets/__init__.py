"""Secrets opened and sealed with age. Which nodes may have which is said by model.secrets."""
