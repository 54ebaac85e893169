"""The groups of a random repository: which features each installs, and who may not meet whom."""

import msgspec

from gitcfg.generate.chance import random_part, sample
from gitcfg.generate.features import Features
from gitcfg.generate.options import Options
from gitcfg.generate.parameters import Parameters, PlannedParameter


class PlannedGroup(msgspec.Struct, frozen=True):
    """A group to be written; `rivals` are parameters that conflict with another group's of its kind."""

    name: str
    kind: int
    features: tuple[str, ...]
    rivals: tuple[PlannedParameter, ...]


def group_kinds(options: Options) -> int:
    """How many kinds of groups there are: a node is in one group of each."""
    return max(options.memberships, 1)


def plan_groups(options: Options, known: Features, declared: Parameters) -> tuple[PlannedGroup, ...]:
    """Decide on every group's features, so that no node can have both sides of a conflict."""
    sides = [_sides(options, number) for number in range(options.groups)]
    return tuple(
        PlannedGroup(
            f"group{number:03}",
            number % group_kinds(options),
            (*(known.rivals[pair][side].name for pair, side in own), *_installed(options, known, number)),
            tuple(declared.rivals[pair][side] for pair, side in own),
        )
        for number, own in enumerate(sides)
    )


def _installed(options: Options, known: Features, number: int) -> list[str]:
    """One feature of the top level in turn, so that as many as possible are in use, and some more."""
    rng = random_part(options, "group's features", number)
    turn = [known.top[number % len(known.top)]] if known.top else []
    chosen = dict.fromkeys([*turn, *sample(rng, known.top, options.group_features)])
    return known.closed(list(chosen)[: options.group_features])


def _sides(options: Options, number: int) -> list[tuple[int, int]]:
    """The sides (0 or 1) of conflicting pairs that fall to a group."""
    found = ((pair, _side(options, number, pair)) for pair in range(options.conflicts))
    return [(pair, side) for pair, side in found if side >= 0]


def _side(options: Options, number: int, pair: int) -> int:
    """Two neighbours of one kind have a side each; -1: this group has none."""
    alike = range(pair % group_kinds(options), options.groups, group_kinds(options))
    turn = pair // group_kinds(options)
    places = [alike[turn % len(alike)], alike[(turn + 1) % len(alike)]]
    return places.index(number) if number in places else -1
