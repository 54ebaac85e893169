"""The layers of one node, lowest first, each with what it says and the path to it."""

from collections.abc import Iterator
from typing import NamedTuple

from tests.reference.instances import Use, filled, uses
from tests.reference.nodesets import expand
from tests.reference.repository import Document, Repository
from tests.reference.yaml12 import Raw


class Layer(NamedTuple):
    """Bindings, the path (innermost first) and the feature whose own layer it is, if it is one."""

    path: tuple[str, ...]
    params: Document
    feature: str | None = None


class Said(NamedTuple):
    """What the node's own file and its set's file say together. Features come with who says so."""

    groups: list[Raw]
    features: list[tuple[str, Raw]]
    without: list[Raw]
    facts: Document


def said(repository: Repository, node: str) -> Said:
    """A node's lists and facts, its own over its set's."""
    own = repository.nodes.get(node, {})
    name = repository.members.get(node)
    alike = repository.sets[name] if name else {}
    merged = {
        key: _merge([(f"node set {name}", item) for item in alike.get(key, [])], own.get(key), f"node {node}")
        for key in ("groups", "features", "without")
    }
    return Said(
        [item for _, item in merged["groups"]],
        merged["features"],
        [item for _, item in merged["without"]],
        {**alike.get("facts", {}), **_own_facts(alike, node), **own.get("facts", {})},
    )


def _own_facts(alike: Document, node: str) -> Document:
    """The facts that a set's file gives to a node alone."""
    found = (facts for nodes, facts in alike.get("node_facts", {}).items() if node in expand(nodes))
    return {key: value for facts in found for key, value in facts.items()}


def _merge(given: list[tuple[str, Raw]], own: Raw, label: str) -> list[tuple[str, Raw]]:
    """A node's list over its set's: nothing, a list that replaces, or an operation."""
    if own is None:
        return given
    if isinstance(own, list):
        return [(label, item) for item in own]
    ((operation, operands),) = own.items()
    new = [(label, item) for item in operands]
    if operation == "$append":
        return given + new
    if operation == "$prepend":
        return new + given
    return [(who, item) for who, item in given if item not in operands]


def overrides(repository: Repository, node: str) -> list[str]:
    """The overrides that apply, in order of name."""
    return [
        name for name in sorted(repository.overrides) if node in expand(repository.overrides[name]["nodes"])
    ]


def layers(repository: Repository, node: str) -> Iterator[Layer]:
    """Everything that is said about a node, lowest first."""
    mine = said(repository, node)
    applying = [(name, repository.overrides[name]) for name in overrides(repository, node)]
    without = {*mine.without, *(item for _, one in applying for item in one.get("without", []))}
    for group in [repository.default_group, *reversed(mine.groups)]:
        yield from _group(repository, group, without)
    for label, entry in reversed(mine.features):
        for use in reversed(uses([entry])):
            yield from _feature(repository, use, without, (label,), ())
    if node in repository.members:
        name = repository.members[node]
        yield Layer((f"node set {name}",), repository.sets[name].get("params", {}))
    yield Layer((f"node {node}",), repository.nodes.get(node, {}).get("params", {}))
    for name, one in applying:
        yield from _body(repository, one, without, f"override {name}")


def _group(repository: Repository, name: str, without: set[str]) -> Iterator[Layer]:
    if name in repository.groups:
        yield from _body(repository, repository.groups[name], without, f"group {name}")


def _body(repository: Repository, body: Document, without: set[str], label: str) -> Iterator[Layer]:
    """A list of features, lowest priority first, and parameters above them."""
    for use in reversed(uses(body.get("features", []))):
        yield from _feature(repository, use, without, (label,), ())
    yield Layer((label,), body.get("params", {}))


def _feature(
    repository: Repository, use: Use, without: set[str], path: tuple[str, ...], inside: tuple[str, ...]
) -> Iterator[Layer]:
    """A feature's layer: those of what it includes, and its own above."""
    name = use.feature
    if name not in repository.features or name in without or name in inside:
        return
    body = repository.features[name]
    here = (f"feature {name}", *path)
    for inner in reversed(uses(body.get("include", []), use)):
        yield from _feature(repository, inner, without, here, (*inside, name))
    yield Layer(here, filled(body.get("params", {}), use), name)
