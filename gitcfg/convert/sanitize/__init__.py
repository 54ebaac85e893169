"""The same repository with every name and value replaced."""

from gitcfg.convert.sanitize.correspondence import unlike
from gitcfg.convert.sanitize.tree import Keep, Sanitizer
from gitcfg.convert.sanitize.written import write

__all__ = ["Keep", "Sanitizer", "unlike", "write"]
