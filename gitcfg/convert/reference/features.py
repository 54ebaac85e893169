"""The chapter of features: what each says, what goes with it, and who has it."""

from collections.abc import Iterator

import msgspec

from gitcfg.convert.reference.content import Branch, Chapter, Entry, Line, Part, Text
from gitcfg.convert.reference.settings import fact, layer_parts, ranking, use_lines
from gitcfg.convert.reference.uses import Usage
from gitcfg.model import Feature
from gitcfg.pictures.features import features_picture
from gitcfg.pictures.picture import Edge, Picture, ident

_NOTE = "Features that are not next to it are not drawn."
_DEEPEST = 20


def feature_chapter(usage: Usage) -> Chapter:
    """Every feature."""
    picture = features_picture(usage.fleet)
    pictures = _split_picture(picture)
    entries = []
    for name, feature in sorted(usage.fleet.model.features.items()):
        near = pictures.get(ident("feature", name))
        parts = tuple(_feature_parts(usage, feature))
        cells = (usage.nodes.count(usage.holders.get(name, ())),)
        entries.append(Entry("feature", name, feature.description, feature.origin.file, cells, parts, near))
    about = "What a machine can do: parameters and files that belong together. Groups install features."
    return Chapter(
        "feature",
        "Features",
        about,
        ("nodes",),
        tuple(entries),
        picture if pictures else None,
        _build_tree(usage),
    )


def _split_picture(picture: Picture) -> dict[str, Picture]:
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


def _feature_parts(usage: Usage, feature: Feature) -> Iterator[Part]:
    name = feature.name
    yield from ranking("Includes", use_lines(usage, feature.include))
    yield from fact("Depends on", (usage.link("feature", ref.name) for ref in feature.depends))
    mutual = [usage.link("feature", ref.name) for ref in feature.conflicts]
    yield from fact("Conflicts with", (*mutual, *usage.mentioned_by("conflict", name)))
    yield from fact("Becomes active after", (usage.link("feature", ref.name) for ref in feature.after))
    yield from fact("Included by", usage.mentioned_by("include", name))
    yield from fact("Depended on by", usage.mentioned_by("depend", name))
    yield from fact("Becomes active before", usage.mentioned_by("after", name))
    yield from fact("Installed by", usage.listed("install", name))
    yield from fact("Limited by", usage.mentioned_by("limit", name))
    yield from fact("Groups, through others", _find_indirect_groups(usage, name))
    yield from fact("Taken away by", usage.listed("without", name))
    yield from fact("Subsystems", usage.mentioned_by("run", name))
    yield from fact("Nodes", [usage.nodes.line(usage.holders.get(name, ()))])
    yield from layer_parts(usage, feature)


def _find_indirect_groups(usage: Usage, name: str) -> Iterator[Line]:
    """The groups that do not install a feature, but one that includes it."""
    above, pending = {name}, [name]
    while pending:
        found = [link.name for link in usage.mentions.by_definitions.get(("include", pending.pop()), ())]
        pending += (other for other in found if other not in above)
        above.update(found)
    installing = {other: set(usage.mentions.by_definitions.get(("install", other), ())) for other in above}
    through = {link for links in installing.values() for link in links} - installing[name]
    return ((link,) for link in sorted(through, key=lambda link: link.name) if link.kind == "group")


def _build_tree(usage: Usage) -> tuple[Branch, ...]:
    """What includes what, from those that nothing includes on; what hangs from a feature is told once."""
    defined = usage.fleet.model.features
    roots = [name for name in sorted(defined) if ("include", name) not in usage.mentions.by_definitions]
    seen: set[str] = set()
    names = (*roots, *sorted(defined))  # those that include each other hang from no root
    return tuple(_build_branch(usage, name, seen, 0) for name in names if name not in seen)


def _build_branch(usage: Usage, name: str, seen: set[str], depth: int) -> Branch:
    line = usage.link("feature", name)
    feature = usage.fleet.model.features.get(name)
    if feature is None or not feature.include:
        seen.add(name)
        return Branch(line)
    if name in seen or depth == _DEEPEST:
        return Branch((*line, Text(" and what it includes")))
    seen.add(name)
    included = dict.fromkeys(use.feature for use in feature.include)
    return Branch(line, tuple(_build_branch(usage, other, seen, depth + 1) for other in included))
