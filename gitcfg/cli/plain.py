"""Texts that are safe to show, and numbers with their nouns: what also the quickest commands need."""

from gitcfg.model.texts import ABBREVIATED, counted, few, safe

__all__ = ["ABBREVIATED", "counted", "few", "safe"]
