"""What must be collected before what, as values that are collected may be collected again; and circles."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

import msgspec

from gitcfg.compile.ruled.collect import Collect
from gitcfg.model import Origin
from gitcfg.model.graph import components


class Link(msgspec.Struct, frozen=True):
    """A node has a parameter whose value is collected itself, and this is where that is said."""

    node: str
    param: str
    origin: Origin
    collect: Collect


class Needing:
    """For each `$collect` those on which the values depend that it may find, whatever facts say.

    `links` gives what is collected where values of one are found.
    """

    def __init__(self, collects: Iterable[Collect], links: Callable[[Collect], Iterator[Link]]) -> None:
        self._links: dict[Collect, dict[Collect, Link]] = {collect: {} for collect in collects}
        todo = list(self._links)
        for collect in todo:
            for link in links(collect):
                if link.collect not in self._links:
                    self._links[link.collect] = {}
                    todo.append(link.collect)
                self._links[collect].setdefault(link.collect, link)

    def leading(self, collect: Collect) -> list[Collect]:
        """A `$collect` after all that it needs: one finds another ready, however many need each other."""
        found, todo = set[Collect](), [collect]
        while todo:
            each = todo.pop()
            if each not in found:
                found.add(each)
                todo += self._links.get(each, ())
        return sorted(found, key=lambda each: self._order.get(each, 0))

    @cached_property
    def _components(self) -> list[tuple[Collect, ...]]:
        """All that is collected, what needs each other together, after what it needs."""
        # As numbers: what is collected has no order, as parts of it may be absent.
        listed = list(self._links)
        places = {collect: f"{place:09}" for place, collect in enumerate(listed)}
        edges = {places[one]: [places[other] for other in self._links[one]] for one in listed}
        return [tuple(listed[int(place)] for place in members) for members in components(edges)]

    @cached_property
    def _order(self) -> Mapping[Collect, int]:
        return {collect: place for place, members in enumerate(self._components) for collect in members}

    @cached_property
    def circles(self) -> Mapping[Collect, Collect]:
        """What lies on circles, with the one that stands for its circle."""
        return {
            collect: members[0]
            for members in self._components
            for collect in members
            if len(members) > 1 or collect in self._links[collect]
        }

    def around(self, first: Collect) -> list[Link]:
        """A shortest way on its circle from one back to it: each finds what the next collects."""
        came: dict[Collect, Link] = {}
        before: dict[Collect, Collect] = {}
        todo = deque([first])
        while first not in came:
            one = todo.popleft()
            for other, link in self._links[one].items():
                if other not in came:
                    came[other], before[other] = link, one
                    todo.append(other)
        way, at = [came[first]], before[first]
        while at != first:
            way.append(came[at])
            at = before[at]
        return way[::-1]
