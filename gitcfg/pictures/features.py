"""A picture of features: what they include, depend on, come after and conflict with."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.model import Feature, Model, Ref
from gitcfg.model.text import counted
from gitcfg.pictures.picture import (
    Edge,
    Kind,
    Picture,
    Relation,
    Vertex,
    around,
    by_feature,
    described,
    ident,
    instances,
    list_origins,
    listed,
    missing_features,
)


def features_picture(fleet: Fleet, names: Collection[str] = ()) -> Picture:
    """Every feature; or some, all that they lead to and those next to them. KeyError: no such feature."""
    vertices = (*_defined(fleet), *_missing(fleet.model))
    picture = Picture("features", "Features", vertices, tuple(_edges(fleet.model)))
    if not names:
        return picture
    ids = {vertex.name: vertex.id for vertex in vertices}
    note = "What these lead to, and what is next to them. Other features are not drawn."
    return around(picture, [ids[name] for name in names], f"Features: {listed(names)}", note)


def _defined(fleet: Fleet) -> Iterator[Vertex]:
    nodes = Counter[str]()
    for kind in fleet.classes:
        for name in kind.features:
            nodes[name] += len(kind.names)
    folders = {feature.origin.file.rpartition("/")[0] for feature in fleet.model.features.values()}
    for name, feature in sorted(fleet.model.features.items()):
        yield Vertex(
            id=ident("feature", name),
            kind=Kind.FEATURE,
            name=name,
            lines=(counted(nodes[name], "node") if nodes[name] else "no node",) if fleet.names else (),
            about=described(feature),
            count=nodes[name],
            unused=bool(fleet.names) and not nodes[name],
            folder=_folder(feature) if len(folders) > 1 else "",
        )


def _folder(feature: Feature) -> str:
    """The folder below features/ in which a feature's file lies."""
    return feature.origin.file.partition("/")[2].rpartition("/")[0]


def _missing(model: Model) -> Iterator[Vertex]:
    for name, origins in missing_features(model).items():
        yield Vertex(
            id=ident("feature", name),
            kind=Kind.MISSING,
            name=name,
            lines=("missing",),
            about=list_origins(origins),
        )


def _edges(model: Model) -> Iterator[Edge]:
    """All edges; a conflict, which is mutual, once for each pair."""
    pairs: set[frozenset[str]] = set()
    for name, feature in sorted(model.features.items()):
        source = ident("feature", name)
        for target, uses in by_feature(feature.include).items():
            yield Edge(Relation.INCLUDES, source, ident("feature", target), instances(uses))
        for relation, refs in ((Relation.DEPENDS, feature.depends), (Relation.AFTER, feature.after)):
            for target in _names(refs):
                yield Edge(relation, source, ident("feature", target))
        for target in _names(feature.conflicts):
            if frozenset((name, target)) not in pairs:
                pairs.add(frozenset((name, target)))
                yield Edge(Relation.CONFLICTS, source, ident("feature", target))


def _names(refs: Iterable[Ref]) -> Iterable[str]:
    return dict.fromkeys(ref.name for ref in refs)
