"""Keys that are handed over for acceptance: where they come from, and whether somebody agrees to them."""

import sys
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.database import nowhere
from gitcfg.cli.nodes import chosen
from gitcfg.cli.pager import Pager
from gitcfg.cli.plain import counted, safe
from gitcfg.cli.serving.said import Asked
from gitcfg.cli.serving.told import heard
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown
from gitcfg.nodeset import NodeSetError, expand, fold

if TYPE_CHECKING:
    from gitcfg.library import Fleet, Source


class Wanted(msgspec.Struct, frozen=True):
    """Which nodes: words, a condition, and a file that holds keys instead of the server."""

    words: tuple[str, ...]
    where: str | None
    file: str | None


def handed_over(source: "Source", wanted: Wanted, asked: Asked) -> dict[str, str]:
    """The keys of the nodes that are meant, in order of name. GitcfgError: one that is named has none."""
    if wanted.file is None and not wanted.words and wanted.where is None:
        raise GitcfgError("It is not said which nodes.", "`gitcfg node list --pending` tells who has asked.")
    with source.worktree() as fleet:
        must, may = _meant(fleet, wanted)
        accepted = frozenset(fleet.model.keys)
    if wanted.file is not None:
        found, whence = _from(wanted.file, must), shown(wanted.file)
    else:
        found, whence = _came(source, asked, accepted), "The server"
    missing = sorted(set(must) - found.keys())
    if missing:
        hint = "Leave them out, and accept them later."
        raise GitcfgError(f"{whence} has no key of {fold(missing)}.", hint)
    everybody = not wanted.words and wanted.where is None
    names = set(found) if everybody else {*must, *(may & found.keys())}
    if not names:
        raise _nobody(wanted, whence)
    return {name: found[name] for name in sorted(names)}


def _nobody(wanted: Wanted, whence: str) -> GitcfgError:
    if wanted.words or wanted.where is not None:
        return GitcfgError(
            f"{whence} has no key of any of them.", "`gitcfg node list --pending` tells who has asked."
        )
    return GitcfgError(f"{whence} holds no key.", "`gitcfg-agent key` prints a node's.")


def _meant(fleet: "Fleet", wanted: Wanted) -> tuple[tuple[str, ...], frozenset[str]]:
    """The nodes that are named, which must have a key, and those of groups and conditions, which may."""
    groups = tuple(word for word in wanted.words if word.startswith("@"))
    plain = named(fleet.model.settings.max_nodes, (word for word in wanted.words if word not in groups))
    may = frozenset(chosen(fleet, groups)) if groups else frozenset()
    if wanted.where is None:
        return plain, may
    held = frozenset(chosen(fleet, (), wanted.where))
    return tuple(name for name in plain if name in held), may & held if wanted.words else held


def named(most: int, words: Iterable[str]) -> tuple[str, ...]:
    """The nodes that words name, each once. GitcfgError: one is no set of names."""
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


def _came(source: "Source", asked: Asked, accepted: Container[str]) -> dict[str, str]:
    """The keys by which nodes came to the server; of who is accepted another one, if it came by such."""
    found = heard(source.repository, asked)
    if found is None:
        raise GitcfgError("It is not said where the keys come from.", "Say --from FILE.", *nowhere().hints)
    keys = {one.node: one.other.key if one.other and one.node in accepted else one.key for one in found}
    return {node: key for node, key in keys.items() if key}


def agreed(session: Session, keys: Mapping[str, str], yes: bool) -> bool:
    """Show keys' fingerprints; may they be accepted?"""
    from gitcfg.load.keys import fingerprint

    # Who leaves a pager early means neither yes nor no.
    shows = session if yes else msgspec.structs.replace(session, pager=Pager(""))
    width = max(map(len, keys))
    for name, key in keys.items():
        shows.write(f"{safe(name):<{width}}  {fingerprint(key)}\n")
    if yes:
        return True
    question = "Is that its key?" if len(keys) == 1 else f"Are those {counted(len(keys), 'key')} theirs?"
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    session.console(stderr=True).print("Nothing was changed.")
    return False
