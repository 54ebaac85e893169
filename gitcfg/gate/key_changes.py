"""What a push changes of nodes' keys: whoever has a node's key gets its configuration, and its secrets."""

from collections.abc import Iterable, Iterator, Mapping

from gitcfg.git.tree import fingerprint as content
from gitcfg.library import Fleet
from gitcfg.load.keys import FOLDER, fingerprint
from gitcfg.model import Key
from gitcfg.model.nodeset import abridged
from gitcfg.model.text import counted

_FEW = 5  # of so many nodes each key is shown
_Sort = tuple[str, tuple[str, ...]]
"""What became of keys, and the secrets that their nodes get."""


def describe_key_changes(old: Fleet, new: Fleet) -> tuple[str, ...]:
    """A line for each, and for many that are alike one together; first of nodes that get secrets."""
    if content(old.tree, (FOLDER,)) == content(new.tree, (FOLDER,)):
        return ()
    before, after = old.model.keys, new.model.keys
    names = [
        name for name in before.keys() | after.keys() if _key_text(before, name) != _key_text(after, name)
    ]
    got = _secrets_of_nodes(new, [name for name in names if name in after])
    alike: dict[_Sort, list[str]] = {}
    for name in sorted(names):
        became = "new" if name not in before else "gone" if name not in after else "changed"
        alike.setdefault((became, got.get(name, ())), []).append(name)
    sorts = sorted(alike.items(), key=lambda item: (not item[0][1], item))
    return tuple(line for sort, nodes in sorts for line in _describe_keys(sort, nodes, before, after))


def _describe_keys(
    sort: _Sort, nodes: list[str], before: Mapping[str, Key], after: Mapping[str, Key]
) -> Iterator[str]:
    became, secrets = sort
    which = f", which {'gets' if len(nodes) <= _FEW else 'get'} {', '.join(secrets)}" if secrets else ""
    if len(nodes) > _FEW:
        yield f"keys of {counted(len(nodes), 'node')} {became}: {abridged(nodes)}{which}"
        return
    for name in nodes:
        keys = " -> ".join(fingerprint(side[name].text) for side in (before, after) if name in side)
        yield f"key of {name} {became}: {keys}{which}"


def _secrets_of_nodes(fleet: Fleet, names: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """What of secrets nodes get, of those that there are."""
    there = [name for name in names if name in fleet]
    if not there or not fleet.model.secrets:
        return {}
    compiled = fleet.only(there).compiled
    return {name: tuple(sorted({*compiled[name].secrets.values()})) for name in there}


def _key_text(keys: Mapping[str, Key], name: str) -> str:
    return keys[name].text if name in keys else ""
