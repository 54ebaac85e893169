"""The secrets of a deploy: opened before anything is begun, kept in memory, and given to their own nodes."""

from collections.abc import Callable, Collection, Mapping, Sequence

from gitcfg.cli.session import Session
from gitcfg.library import Fleet

Hidden = Callable[[Fleet, str], Mapping[str, str]]


def hidden(
    session: Session, fleet: Fleet, names: Collection[str], files: Sequence[str] | None
) -> Hidden | None:
    """What gives nodes the true contents of files with secrets; None: no node has any.

    `files` are those of private keys that are named. GitcfgError: none of them opens a secret.
    """
    needed = _needed(fleet, names) if fleet.model.secrets else frozenset()
    if not needed:
        return None
    from gitcfg.cli.secrets.keys import held
    from gitcfg.delivery.revealing import revealed_files
    from gitcfg.secrets import opened
    from gitcfg.secrets.dumps import no_core_dumps

    no_core_dumps()
    keys = held(session, files)
    known = fleet.model.secrets
    values = {name: opened(fleet.tree, known[name], keys) for name in sorted(needed) if name in known}
    return lambda where, node: revealed_files(where.valued([node]), node, values.__getitem__)


def _needed(fleet: Fleet, names: Collection[str]) -> frozenset[str]:
    part = fleet.valued(names)
    return frozenset(secret for name in names for secret in part.compiled[name].secrets.values())
