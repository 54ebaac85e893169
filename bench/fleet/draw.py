"""Draws a whole fleet from its options."""

from bench.fleet import parameters as declared
from bench.fleet import relations
from bench.fleet.features import features, pools
from bench.fleet.groups import groups
from bench.fleet.model import Fleet
from bench.fleet.nodes import nodes, sets
from bench.fleet.options import Options


def draw(options: Options) -> Fleet:
    """The fleet of these options: always the same."""
    drawn = pools(options)
    parameters = declared.parameters(options)
    names = tuple(parameters)
    owned = declared.owners(options, (name for pool in drawn for name in pool.include), names)
    common = names[options.features * options.feature_params :]
    known = {one.name: one for one in groups(options, drawn, owned, common, parameters)}
    needed = relations.depends(options, drawn, known)
    rivals = relations.conflicts(options, drawn)
    return Fleet(
        options,
        declared.related(
            parameters, relations.of_parameters(needed, owned), relations.of_parameters(rivals, owned)
        ),
        relations.related(features(options, drawn, owned, parameters), needed, rivals),
        known,
        {one.name: one for one in nodes(options, tuple(known.values()), drawn[-1].top, common, parameters)},
        tuple(sets(options, tuple(known.values()), common, parameters)),
        frozenset(common),
    )
