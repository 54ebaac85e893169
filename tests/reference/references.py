"""GC201: everything that is referred to by name, and does not exist."""

from collections.abc import Iterator

from tests.reference.instances import uses
from tests.reference.layers import layers
from tests.reference.operations import operation
from tests.reference.repository import Document, Repository
from tests.reference.yaml12 import Raw

Fact = tuple[str, tuple[str, ...], str | None]


def missing(repository: Repository) -> Iterator[Fact]:
    """One fact a missing name."""
    wanted = (
        (_features(repository), repository.features),
        (_groups(repository), repository.groups),
        (_parameters(repository), repository.parameters),
        (_subsystems(repository), repository.subsystems),
        (_secrets(repository), repository.secrets),
    )
    for names, known in wanted:
        yield from (("GC201", (name,), None) for name in set(names) - set(known))
    if repository.settings.get("undeclared") != "allow":
        undeclared = {name for name in _bound(repository) if repository.declared(name) is None}
        yield from (("GC201", (name,), None) for name in undeclared if "${" not in name)


def _items(said: Raw) -> list[Raw]:
    """A node's list, or the operands of what it does to its set's."""
    return [item for operand in said.values() for item in operand] if isinstance(said, dict) else said


def _machines(repository: Repository) -> list[Document]:
    return [*repository.nodes.values(), *repository.sets.values()]


def _features(repository: Repository) -> Iterator[str]:
    for body in repository.features.values():
        yield from (use.feature for use in uses(body.get("include", [])))
        for key in ("depends", "conflicts", "after"):
            yield from body.get(key, [])
    installing = [*_machines(repository), *repository.groups.values(), *repository.overrides.values()]
    for body in installing:
        yield from (use.feature for use in uses(_items(body.get("features", []))))
        yield from _items(body.get("without", []))
    for said in repository.subsystems.values():
        yield from said.get("features", [])


def _groups(repository: Repository) -> Iterator[str]:
    for body in _machines(repository):
        yield from _items(body.get("groups", []))


def _parameters(repository: Repository) -> Iterator[str]:
    for said in repository.parameters.values():
        yield from (*said.get("depends", []), *said.get("conflicts", []))
    for said in repository.subsystems.values():
        yield from (name for name in said.get("params", []) if "*" not in name and "?" not in name)


def _subsystems(repository: Repository) -> Iterator[str]:
    for said in repository.subsystems.values():
        yield from (name for name in said.get("covers", []) if name != "*")


def _secrets(repository: Repository) -> Iterator[str]:
    said = (operation(raw) for body in repository.bodies for raw in body.get("params", {}).values())
    yield from (operand for name, operand in said if name == "secret")


def _bound(repository: Repository) -> Iterator[str]:
    """Every parameter that anything binds: as written, and as nodes get them from instances."""
    for body in repository.bodies:
        yield from body.get("params", {})
    for node in repository.names:
        for layer in layers(repository, node):
            yield from layer.params
