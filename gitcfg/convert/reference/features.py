"""The chapter of features: what each says, what goes with it, and who has it."""

from collections.abc import Iterator

import msgspec

from gitcfg.convert.reference.content import Branch, Chapter, Entry, Line, Part, Text
from gitcfg.convert.reference.settings import fact, layer_parts, ranked, use_lines
from gitcfg.convert.reference.uses import Uses
from gitcfg.model import Feature
from gitcfg.pictures.features import features_picture
from gitcfg.pictures.picture import Edge, Picture, ident

_NOTE = "Features that are not next to it are not drawn."
_DEEPEST = 20


def features(uses: Uses) -> Chapter:
    """Every feature."""
    picture = features_picture(uses.fleet)
    pictures = _near(picture)
    entries = []
    for name, feature in sorted(uses.fleet.model.features.items()):
        near = pictures.get(ident("feature", name))
        parts = tuple(_parts(uses, feature))
        cells = (uses.nodes.count(uses.holders.get(name, ())),)
        entries.append(Entry("feature", name, feature.description, feature.origin.file, cells, parts, near))
    about = "What a machine can do: parameters and files that belong together. Groups install features."
    return Chapter(
        "feature", "Features", about, ("nodes",), tuple(entries), picture if pictures else None, _tree(uses)
    )


def _near(picture: Picture) -> dict[str, Picture]:
    """By the ids of features that something joins to others: each with those next to it."""
    vertices = {vertex.id: vertex for vertex in picture.vertices}
    joined: dict[str, list[Edge]] = {}
    for edge in picture.edges:
        for end in {edge.source, edge.target}:
            joined.setdefault(end, []).append(edge)
    return {
        id_: msgspec.structs.replace(
            picture,
            title=vertices[id_].name,
            vertices=tuple(
                vertices[end] for end in sorted({end for e in edges for end in (e.source, e.target)})
            ),
            edges=tuple(edges),
            notes=(_NOTE,),
        )
        for id_, edges in joined.items()
    }


def _parts(uses: Uses, feature: Feature) -> Iterator[Part]:
    name = feature.name
    yield from ranked("Includes", use_lines(uses, feature.include))
    yield from fact("Depends on", (uses.link("feature", ref.name) for ref in feature.depends))
    mutual = [uses.link("feature", ref.name) for ref in feature.conflicts]
    yield from fact("Conflicts with", (*mutual, *uses.said("conflict", name)))
    yield from fact("Becomes active after", (uses.link("feature", ref.name) for ref in feature.after))
    yield from fact("Included by", uses.said("include", name))
    yield from fact("Depended on by", uses.said("depend", name))
    yield from fact("Becomes active before", uses.said("after", name))
    yield from fact("Installed by", uses.listed("install", name))
    yield from fact("Limited by", uses.said("limit", name))
    yield from fact("Groups, through others", _groups(uses, name))
    yield from fact("Taken away by", uses.listed("without", name))
    yield from fact("Subsystems", uses.said("run", name))
    yield from fact("Nodes", [uses.nodes.line(uses.holders.get(name, ()))])
    yield from layer_parts(uses, feature)


def _groups(uses: Uses, name: str) -> Iterator[Line]:
    """The groups that do not install a feature, but one that includes it."""
    above, pending = {name}, [name]
    while pending:
        found = [link.name for link in uses.says.mentions.get(("include", pending.pop()), ())]
        pending += (other for other in found if other not in above)
        above.update(found)
    installing = {other: set(uses.says.mentions.get(("install", other), ())) for other in above}
    through = {link for links in installing.values() for link in links} - installing[name]
    return ((link,) for link in sorted(through, key=lambda link: link.name) if link.kind == "group")


def _tree(uses: Uses) -> tuple[Branch, ...]:
    """What includes what, from those that nothing includes on; what hangs from a feature is told once."""
    defined = uses.fleet.model.features
    roots = [name for name in sorted(defined) if ("include", name) not in uses.says.mentions]
    seen: set[str] = set()
    names = (*roots, *sorted(defined))  # those that include each other hang from no root
    return tuple(_branch(uses, name, seen, 0) for name in names if name not in seen)


def _branch(uses: Uses, name: str, seen: set[str], depth: int) -> Branch:
    line = uses.link("feature", name)
    feature = uses.fleet.model.features.get(name)
    if feature is None or not feature.include:
        seen.add(name)
        return Branch(line)
    if name in seen or depth == _DEEPEST:
        return Branch((*line, Text(" and what it includes")))
    seen.add(name)
    included = dict.fromkeys(use.feature for use in feature.include)
    return Branch(line, tuple(_branch(uses, other, seen, depth + 1) for other in included))
