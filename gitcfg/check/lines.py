"""Files that have a line for each parameter, with whether each line is sure to say its value."""

from collections.abc import Callable
from typing import Any

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.model import FileEntry
from gitcfg.model.secrets import unversioned
from gitcfg.render.files import Pieces
from gitcfg.render.formats import LineFormat

Plain = Callable[[str, str, str, Any, str | None], bool]  # see Judge.plain


class Lines:
    """What an entry in such a format writes, but for the versions of secrets.

    `plain` says of each distinct line whether it says its value.
    """

    def __init__(self, fleet: Fleet, entry: FileEntry, chosen: LineFormat, plain: Plain) -> None:
        odd = self._odd = set[str]()

        def notice(name: str, value: Any, line: str, separator: str | None) -> None:
            if not plain(chosen.name, line, name, value, separator):
                odd.add(name)

        self._pieces = Pieces(fleet, entry, chosen, notice, unversioned)

    def text(self, kind: NodeClass) -> tuple[str, bool] | None:
        """The text of a class and if all its lines are plain; None if it cannot be put together so."""
        pieces = self._pieces.of(kind)
        if pieces is None:
            return None
        return "".join(pieces.values()), not any(pieces.get(name) for name in self._odd)
