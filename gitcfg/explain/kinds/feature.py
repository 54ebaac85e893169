"""Features: what they say, who has them, and what goes with them."""

from collections.abc import Iterable, Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.definition import Definition, Field, Kind, Nodes, Reference, Summary
from gitcfg.explain.layers import given, labelled, listed
from gitcfg.explain.said import files, mentioning, refs, settings, uses
from gitcfg.model import Feature, Model, Node, Override, Ref
from gitcfg.model.rules import RuleKind
from gitcfg.render.templates import TemplateEngine


def _summaries(fleet: Fleet) -> Iterator[Summary]:
    counts = dict.fromkeys(fleet.model.features, 0)
    for kind in fleet.classes:
        for name in kind.features:
            counts[name] += len(kind.names)
    for name in sorted(fleet.model.features):
        feature = fleet.model.features[name]
        yield Summary(name, feature.description, feature.origin, {"nodes": counts[name]})


def _definition(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    model = fleet.model
    feature = model.features[name]
    label = f"feature {name}"
    others = model.features.values()
    fields: dict[str, Field] = {
        "nodes": Nodes(holders(fleet, name)),
        "include": uses(feature.include),
        "depends": refs(feature.depends),
        "conflicts": refs(feature.conflicts),
        "after": refs(feature.after),
        "settings": settings(fleet, label, feature),
        "files": files(fleet, engine, label, feature),
        "included_by": tuple(_listing(model, name, including=True)),
        "installed_by": tuple(_listing(model, name, including=False)),
        "limited_by": mentioning(name, _limits(model)),
        "taken_away_by": mentioning(name, _withouts(model)),
        "depended_on_by": mentioning(name, [(other.name, other.depends) for other in others]),
        "in_conflict_with": mentioning(name, [(other.name, other.conflicts) for other in others]),
        "awaited_by": mentioning(name, [(other.name, other.after) for other in others]),
        "subsystems": mentioning(name, [(s.name, s.features or ()) for s in model.subsystems.values()]),
    }
    return Definition(name, feature.description, feature.origin, fields)


def holders(fleet: Fleet, feature: str) -> tuple[str, ...]:
    """The nodes that have a feature."""
    return tuple(sorted(name for kind in fleet.classes if feature in kind.features for name in kind.names))


def _listing(model: Model, feature: str, including: bool) -> Iterator[Reference]:
    """The features that include one, or the other layers that install it."""
    for label, layer in labelled(model):
        if isinstance(layer, Feature) is including:
            for found in uses(use for use in listed(layer) if use.feature == feature):
                yield Reference(layer.name if including else label, found.origin, found.instances)


def _limits(model: Model) -> Iterator[tuple[str, Iterable[Ref]]]:
    for rule in model.rules.values():
        if rule.kind is RuleKind.LIMIT and rule.feature is not None:
            yield f"rule {rule.name}", (rule.feature,)


def _withouts(model: Model) -> Iterator[tuple[str, Iterable[Ref]]]:
    for label, layer in labelled(model):
        if isinstance(layer, Node):
            yield label, given(layer.without)
        elif isinstance(layer, Override):
            yield label, layer.without


FEATURE = Kind("feature", _summaries, lambda fleet: fleet.model.features, _definition)
