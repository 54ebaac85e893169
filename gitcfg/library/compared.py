"""Two fleets compared: only the nodes that what changed between them can concern."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gitcfg.library.fleet import Fleet

if TYPE_CHECKING:
    from gitcfg.comparison.comparison import Comparison


def compare(old: Fleet, new: Fleet, names: Iterable[str] | None = None) -> "Comparison":
    """The changes from one fleet to another, folded over nodes; `names` restricts it to some nodes."""
    from gitcfg.comparison.comparison import Comparison
    from gitcfg.comparison.files import Side

    if names is None:
        names = _concerned(old, new)
    if names is not None:
        names = tuple(names)
        old, new = (fleet.valued([name for name in names if name in fleet]) for fleet in (old, new))
    return Comparison(Side(old.compiled, old.engine), Side(new.compiled, new.engine), names)


def _concerned(old: Fleet, new: Fleet) -> Iterable[str] | None:
    """The nodes that what changed can concern; None: all."""
    from gitcfg.compile.impact import concerned

    found = concerned(old.version, new.version)
    return None if found is None else sorted(found)
