"""The stages of a release: which nodes are in which, found alike by every server."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256

import msgspec

from gitcfg.model import Release, Share


class Plan(msgspec.Struct, frozen=True):
    """The nodes that a commit changes, in the order in which they get it.

    `sizes` says how many of them have it once each stage was offered it. `settle` is how long a stage must
    have been well, in seconds, before the next one is; `max_failures` is how many nodes may fail.
    """

    order: tuple[str, ...]
    sizes: tuple[int, ...]
    settle: float = 0.0
    max_failures: int = 0

    @property
    def ranks(self) -> Mapping[str, int]:
        """The place of each node in the order."""
        return {name: rank for rank, name in enumerate(self.order)}

    def offered(self, stage: int) -> tuple[str, ...]:
        """The nodes of a stage and of all before it."""
        return self.order[: self.sizes[stage]]

    def span(self, stage: int) -> tuple[int, int]:
        """Where in the order a stage begins, and where it ends."""
        return self.sizes[stage - 1] if stage else 0, self.sizes[stage]

    def joining(self, stage: int) -> tuple[str, ...]:
        """The nodes that get it in a stage."""
        begin, end = self.span(stage)
        return self.order[begin:end]


def planned(
    commit: str,
    changed: Iterable[str],
    release: Release | None,
    first: Collection[str] = (),
    back: bool = False,
) -> Plan:
    """How a commit gets to the nodes that it changes; those in `first` come first.

    Going back has the same stages and waits in none of them. Without a release everybody gets it at once.
    """
    order = tuple(sorted(changed, key=lambda name: (name not in first, _hash(commit, name))))
    if release is None:
        return Plan(order, (len(order),), 0.0, len(order))
    settle = 0.0 if back else release.settle
    return Plan(order, _sizes(release.stages, len(order)), settle, release.max_failures)


def _hash(commit: str, name: str) -> bytes:
    """Other nodes are first with another commit, so that no node bears the brunt of all."""
    return sha256(f"{commit} {name}".encode()).digest()


def _sizes(stages: Sequence[Share], nodes: int) -> tuple[int, ...]:
    """Stages that would add nobody are left out; the last one has everybody."""
    found: list[int] = []
    for share in stages:
        size = share.of(nodes)
        if size > (found[-1] if found else 0):
            found.append(size)
    return tuple(found) if found and found[-1] == nodes else (*found, nodes)
