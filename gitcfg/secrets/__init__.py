"""Secrets opened and sealed: age by pyrage. Who may have which is said by model.secrets."""

from gitcfg.secrets.content import MOST_BYTES
from gitcfg.secrets.identities import Identities, identities
from gitcfg.secrets.opening import opened
from gitcfg.secrets.sealing import armored, sealed

__all__ = ["MOST_BYTES", "Identities", "armored", "identities", "opened", "sealed"]
