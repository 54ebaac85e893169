"""Keys that are handed over for acceptance: where they come from, and whether somebody agrees to them."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.database import Asked, address, opened
from gitcfg.cli.pager import Pager
from gitcfg.cli.plain import counted, safe
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

if TYPE_CHECKING:
    from gitcfg.library import Source


def handed_over(source: "Source", words: tuple[str, ...], file: str | None, asked: Asked) -> dict[str, str]:
    """The keys of the nodes that are named, in order of name. GitcfgError: one has none."""
    if file is None and not words:
        raise GitcfgError("It is not said which nodes.", "`gitcfg node list --pending` tells who has asked.")
    with source.worktree() as fleet:
        wanted = named(fleet.model.settings.max_nodes, words)
    if file is not None:
        found, whence = _from(file, wanted), shown(file)
    else:
        found, whence = _asked(source, asked), "The server"
    missing = sorted(set(wanted) - found.keys())
    if missing:
        from gitcfg.nodeset import fold

        raise GitcfgError(
            f"{whence} has no key of {fold(missing)}.", "Leave them out, and accept them later."
        )
    names = wanted or tuple(found)
    if not names:
        raise GitcfgError(f"{shown(file or '')} holds no key.", "`gitcfg-agent key` prints a node's.")
    return {name: found[name] for name in sorted(names)}


def named(most: int, words: Iterable[str]) -> tuple[str, ...]:
    """The nodes that words name, each once. GitcfgError: one is no set of names."""
    from gitcfg.nodeset import NodeSetError, expand

    found: dict[str, None] = {}
    for word in words:
        try:
            found |= dict.fromkeys(expand(word, most))
        except NodeSetError as error:
            raise GitcfgError(f"{shown(word)} is no set of nodes: {error}.") from None
    return tuple(found)


def _from(file: str, wanted: tuple[str, ...]) -> dict[str, str]:
    from gitcfg.edit.keys import handed_in

    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    return handed_in(data, wanted[0] if len(wanted) == 1 else None)


def _asked(source: "Source", asked: Asked) -> dict[str, str]:
    """The keys by which nodes are known to the server."""
    url = address(source.repository, asked)
    if url is None:
        hint = "Say --from FILE, or --database URL; beside the repository there is none."
        raise GitcfgError("It is not said where the keys come from.", hint)
    with opened(url) as state:
        return {found.node: found.key for found in state.checkins.nodes() if found.key}


def agreed(session: Session, keys: Mapping[str, str], yes: bool) -> bool:
    """Show keys' fingerprints; may they be accepted?"""
    from gitcfg.load.keys import fingerprint

    # Who leaves a pager early means neither yes nor no.
    told = session if yes else msgspec.structs.replace(session, pager=Pager(""))
    width = max(map(len, keys))
    for name, key in keys.items():
        told.write(f"{safe(name):<{width}}  {fingerprint(key)}\n")
    if yes:
        return True
    question = "Is that its key?" if len(keys) == 1 else f"Are those {counted(len(keys), 'key')} theirs?"
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    session.console(stderr=True).print("Nothing was changed.")
    return False
