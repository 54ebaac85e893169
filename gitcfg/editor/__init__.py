"""What editors are told of a repository: JSON Schemas with its names, and how they find them."""

from gitcfg.editor.modelines import FOLDER, modeline
from gitcfg.editor.plan import plan
from gitcfg.editor.schemas import KINDS, schemas
from gitcfg.editor.settle import Wanted, stale, write

__all__ = ["FOLDER", "KINDS", "Wanted", "modeline", "plan", "schemas", "stale", "write"]
