"""A list of a definition that an edit is about, and what is in it."""

from collections.abc import Iterator

import msgspec

from gitcfg.edit.changes import Given, Path
from gitcfg.edit.spots import Meaning, is_same
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown


class EditedList(msgspec.Struct, frozen=True):
    """A list: where it is, what it says (None: it is not there), and what it is called in messages.

    `below` is what the list says of a node set that the node is in: a list of the node's own would
    replace it. None: the node is in no set, or it is not about a node.
    """

    path: Path
    now: Meaning | None
    what: str
    order: tuple[str, ...] = ()
    below: list[Meaning] | None = None

    @property
    def items(self) -> list[Meaning]:
        """What is in it."""
        return self.now if isinstance(self.now, list) else []

    def inherits(self, given: Given) -> bool:
        """Does the node set say it?"""
        return name_of(given.meaning) in map(name_of, self.below or ())


def name_of(item: Meaning) -> str:
    """The name in an item: of an instance, the feature's."""
    found = item.get("feature") if isinstance(item, dict) else item
    return found if isinstance(found, str) else ""


def find_item(items: list[Meaning], wanted: Meaning) -> int | None:
    """Where an item is, if it is there."""
    return next((place for place, item in enumerate(items) if is_same(item, wanted)), None)


def find_items(items: list[Meaning], wanted: Meaning) -> Iterator[int]:
    """Where an item is, or all instances of a feature of which only the name is said."""
    for place, item in enumerate(items):
        if is_same(item, wanted) or (isinstance(wanted, str) and name_of(item) == wanted):
            yield place


def refuse_missing(target: EditedList, items: list[Meaning], given: Given) -> GitcfgError:
    """What is to be taken out is not in it."""
    name = name_of(given.meaning)
    return GitcfgError(f"{shown(name)} is not in {target.what}.", did_you_mean(name, map(name_of, items)))
