"""Fleets of a few files, with rules that are given as data."""

from datetime import date

from msgspec.structs import replace

from gitcfg.compile.fleet import Fleet
from gitcfg.git.tree import DictTree
from gitcfg.load.repository import load
from gitcfg.model.rules import Allocation, Rule

TODAY = date(2026, 11, 22)


def fleet(files: dict[str, str], *rules: Rule, allocations: tuple[Allocation, ...] = ()) -> Fleet:
    """The fleet of some files, whose paths are without `.yaml`, and of some rules."""
    tree = DictTree({"gitcfg.yaml": "format: 1\n", **{f"{path}.yaml": text for path, text in files.items()}})
    model = load(tree)
    assert not model.findings
    by_name = {rule.name: rule for rule in rules}
    return Fleet(
        replace(model, rules=by_name, allocations={one.name: one for one in allocations}), tree, TODAY
    )
