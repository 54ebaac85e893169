"""Keys that are handed over for acceptance: where they come from, and whether somebody agrees to them."""

import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.console import Pager
from gitcfg.cli.database import nowhere
from gitcfg.cli.nodes import chosen
from gitcfg.cli.serving.said import Asked
from gitcfg.cli.serving.told import heard
from gitcfg.cli.session import Session
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.nodeset import NodeSetError, abridged, expand
from gitcfg.model.text import counted, safe

if TYPE_CHECKING:
    from gitcfg.inventory.keys import Known
    from gitcfg.library import Fleet, Source


class Wanted(msgspec.Struct, frozen=True):
    """Which nodes (words, a condition), a file that holds keys instead of the server, and which of these."""

    words: tuple[str, ...]
    where: str | None
    file: str | None
    fingerprints: tuple[str, ...] = ()


def handed_over(source: "Source", wanted: Wanted, asked: Asked) -> dict[str, str]:
    """The keys of the nodes that are meant, in order of name. GitcfgError: one that is named has none."""
    if wanted.file is None and not wanted.words and wanted.where is None:
        raise GitcfgError("It is not said which nodes.", _LIST)
    with source.worktree() as fleet:
        must, may = _meant(fleet, wanted)
        if wanted.file is None:
            whence, found = "The server", _candidates(fleet, source, asked)
        else:
            whence, found = shown(wanted.file), _from(wanted.file, must)
    missing = sorted(set(must) - found.keys())
    if missing:
        hint = "Leave them out, and accept them later."
        raise GitcfgError(f"{whence} has no key of {abridged(missing)}.", hint)
    everybody = not wanted.words and wanted.where is None
    names = set(found) if everybody else {*must, *(may & found.keys())}
    if not names:
        raise _nobody(wanted, whence)
    return _chosen({name: found[name] for name in sorted(names)}, wanted.fingerprints)


def _chosen(candidates: "Mapping[str, list[Known]]", fingerprints: tuple[str, ...]) -> dict[str, str]:
    """One key of each node. GitcfgError: several compete for one, or nobody has a key that is asked for."""
    from gitcfg.load.keys import fingerprint

    asked = {_whole(one) for one in fingerprints}
    unused = set(asked)
    found: dict[str, str] = {}
    for name, every in candidates.items():
        fit = [one for one in every if fingerprint(one.key) in asked] if asked else every
        if len(fit) != 1:
            raise _open(name, every, bool(asked))
        found[name] = fit[0].key
        unused.discard(fingerprint(fit[0].key))
    if unused:
        raise GitcfgError(f"None of these nodes has a key {shown(min(unused))}.", _LIST)
    return found


_LIST = "`gitcfg node list --pending` tells who has asked."
_SHOWN = 10
"""So many competing keys are told in an error."""


def _whole(text: str) -> str:
    return text if text.startswith("SHA256:") else f"SHA256:{text}"


def _open(name: str, every: "list[Known]", asked: bool) -> GitcfgError:
    """Why none of a node's keys is the one that is meant."""
    from gitcfg.load.keys import fingerprint

    lines = [f"  {fingerprint(one.key)}  {came(one)}" for one in every[:_SHOWN]]
    if len(every) > _SHOWN:
        lines.append(f"  and {len(every) - _SHOWN} more")
    hint = "Say which with --fingerprint SHA256:...; `gitcfg-agent key` shows it on the node."
    if asked:
        message = f"{shown(name)} has not come with that key, but with:"
    else:
        message = f"{counted(len(every), 'key')} compete for {shown(name)}, and only one can be its own:"
    return GitcfgError("\n".join((message, *lines)), hint, code=REFUSED)


def came(one: "Known") -> str:
    """How a key that git does not have came: `pending 10.0.0.1, 2 min ago, first 3 d ago`."""
    from gitcfg.inventory.records import ago

    parts = [f"{one.how.value} {one.address}".rstrip()]
    if one.last is not None:
        now = time.time()
        parts.append(ago(now - one.last))
        if one.first is not None and ago(now - one.first) != parts[-1]:
            parts.append(f"first {ago(now - one.first)}")
    return ", ".join(parts)


def _nobody(wanted: Wanted, whence: str) -> GitcfgError:
    if wanted.words or wanted.where is not None:
        return GitcfgError(f"{whence} has no key of any of them.", _LIST)
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


def _from(file: str, wanted: tuple[str, ...]) -> "dict[str, list[Known]]":
    from gitcfg.edit.keys import parse_keys

    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    read = parse_keys(data, wanted[0] if len(wanted) == 1 else None)
    return {name: [_handed(name, key)] for name, key in read.items()}


def _handed(name: str, key: str) -> "Known":
    from gitcfg.inventory.keys import How, Known

    return Known(name, key, How.PENDING)


def _candidates(fleet: "Fleet", source: "Source", asked: Asked) -> "dict[str, list[Known]]":
    """The keys by which nodes came to the server; of who is accepted the other ones, else its own."""
    from gitcfg.inventory.keys import How, keys

    seen = heard(source.repository, asked)
    if seen is None:
        raise GitcfgError("It is not said where the keys come from.", "Say --from FILE.", *nowhere().hints)
    found: dict[str, list[Known]] = {}
    for one in keys(fleet, seen):
        if one.how is not How.ACCEPTED:
            found.setdefault(one.node, []).append(one)
    for state in seen:
        if state.key and state.node not in found:
            found[state.node] = [_handed(state.node, state.key)]  # accepted already: nothing is to be done
    return found


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
