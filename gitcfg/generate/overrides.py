"""The files of overrides: what holds for one node for some time."""

from collections.abc import Iterator

from gitcfg.generate.chance import random_part
from gitcfg.generate.emit import to_yaml
from gitcfg.generate.nodes import host
from gitcfg.generate.plan import Plan

END = "2999-12-31"


def override_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Each on a node of its own choice; none of them ever ends."""
    for number in range(plan.options.overrides if plan.options.nodes else 0):
        rng = random_part(plan.options, "override", number)
        content = {
            "nodes": host(plan.options, rng.randint(1, plan.options.nodes)),
            "reason": f"maintenance, ticket {rng.randrange(1000, 10000)}",
            "until": END,
            "params": plan.bindings(rng, 2),
        }
        yield f"overrides/o{number:04}.yaml", to_yaml(content)
