"""What features include, however far: which lead to which, which lie on circles, and which go too deep."""

from collections.abc import Mapping

from gitcfg.model.graph import components, reach

MAX_DEPTH = 100
MAX_CIRCLE = 6  # in larger circles paths are too many to follow: no include inside one counts


class Inclusion:
    """Made of the features that each feature includes.

    `reaches` is what each leads to, `circles` by feature those that lead to one another. `deep` include
    others through more than MAX_DEPTH levels, `deepest` are those of them that include no other of them.
    """

    def __init__(self, edges: Mapping[str, list[str]]) -> None:
        self.edges = edges
        self.reaches = reach(edges)
        order = components(edges)
        self.circles = {name: frozenset(members) for members in order if len(members) > 1 for name in members}
        depth: dict[str, int] = {}
        deepest = []
        for members in order:
            below = max((depth.get(target, 0) for name in members for target in edges[name]), default=0)
            depth.update(dict.fromkeys(members, below + len(members)))
            deepest += [name for name in members if below <= MAX_DEPTH < depth[name]]
        self.deep = frozenset(name for name, levels in depth.items() if levels > MAX_DEPTH)
        self.deepest = tuple(deepest)
