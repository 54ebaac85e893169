"""The secrets of a deploy: opened before anything is begun, kept in memory, and given to their own nodes."""

from collections.abc import Callable, Mapping, Sequence

from gitcfg.cli.session import Session
from gitcfg.deploy.handing import Kept, alike, all_of
from gitcfg.library import Fleet
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.nodeset import abridged

Hidden = Callable[[Fleet, str], Mapping[str, str]]


def hidden(session: Session, fleet: Fleet, wanted: Kept, files: Sequence[str] | None) -> Hidden | None:
    """What gives nodes the true contents of files with secrets; None: no node has any.

    `wanted` are the secrets that nodes get; `files` are those of private keys that are named. GitcfgError:
    none of them opens a secret, or one fits nowhere.
    """
    if not wanted:
        return None
    from gitcfg.cli.secret_options import load_identities
    from gitcfg.delivery.secrets import reveal_files
    from gitcfg.secrets import opened
    from gitcfg.secrets.dumps import no_core_dumps

    no_core_dumps()
    keys = load_identities(session, files)
    known = fleet.model.secrets
    values = {
        name: opened(fleet.tree, known[name], keys)
        for name in sorted(all_of(wanted.values()))
        if name in known
    }

    def found(where: Fleet, node: str) -> Mapping[str, str]:
        return reveal_files(where.valued([node]), node, values.__getitem__)

    _prove(fleet, wanted, found)
    return found


def _prove(fleet: Fleet, wanted: Kept, hidden: Hidden) -> None:
    """GitcfgError: a content fits nowhere on some nodes. What is made here is thrown away."""
    wrong: dict[str, tuple[GitcfgError, list[str]]] = {}
    part = fleet.valued(wanted)
    for names in alike(part, wanted):
        try:
            hidden(part, names[0])
        except GitcfgError as error:
            wrong.setdefault(error.message, (error, []))[1].extend(names)
    if not wrong:
        return
    told = [f"{message} Nodes: {abridged(names)}." for message, (_, names) in wrong.items()]
    hints = dict.fromkeys(hint for error, _ in wrong.values() for hint in error.hints)
    raise GitcfgError(" ".join([*told, "Nothing is deployed."]), *hints, code=REFUSED)
