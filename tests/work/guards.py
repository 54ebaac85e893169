"""What commands may do, as bounds on work that is counted: functions of what is asked and what changed."""

import re
from collections import Counter
from collections.abc import Iterable

from gitcfg.compile.fleet import Fleet
from gitcfg.model import Model
from tests.work.counting import Work, once
from tests.work.pools import WITH_TEMPLATE, Pool

CHECK = ("check", "--no-parsers", "-o", "json")
PARAMS = ("render", "--all", "--params", "-o", "json")
CHANGED = "groups/group005.yaml"
WITNESSES = 32
"""So many others may be looked at, where one that changed had shown that a setting counts."""


def yaml(pool: Pool) -> set[str]:
    return {path for path in pool.files if path.endswith(".yaml")}


def folders(paths: Iterable[object]) -> Counter[str]:
    return Counter(str(path).partition("/")[0] for path in paths)


def other(pool: Pool) -> str:
    """The changed group as it is after the change: something in it has another value."""
    text = pool.files[CHANGED].replace("INTEGER", "INTEGER", 1)
    changed = re.sub(r'("INTEGER_\d+": )\d+', r"\g<1>77", text, count=1)
    assert changed != text
    return changed


def members(fleet: Fleet, group: str) -> set[str]:
    return {name for name in fleet.names if group in fleet[name].groups}


def classes(fleet: Fleet, names: Iterable[str]) -> int:
    return len({id(fleet[name].node_class) for name in names})


def a_node(pool: Pool) -> tuple[str, str]:
    """One with a file of its own and one from a template, and one of its parameters."""
    fleet = pool.fleet
    name = min(name for name in members(fleet, WITH_TEMPLATE) if name in fleet.model.nodes)
    return name, next(iter(fleet[name].params))


def nothing_but_folders(work: Work) -> None:
    """Only git's trees were looked at: which files there are, and under which ids."""
    assert set(work.told()) <= {"folders"}
    assert work.most("folders") <= 1


def each_thing_once(pool: Pool, fleet: Fleet, work: Work) -> None:
    """A check of everything: what it parsed, composed and looked at."""
    assert once(work["parsed"], yaml(pool))
    assert work.total("judged by schema") == len(yaml(pool))
    assert work.most("blobs") == 1
    assert work.total("blobs") <= len(pool.files)
    # One more for each override: what its nodes were without it (GC504).
    assert work.total("compiled") <= len(fleet.classes) + len(fleet.model.overrides)
    assert work.most("looked at") == 1
    assert work.total("looked at") == len(fleet.classes)
    assert work.most("suspected") == 1
    # Values are put together only for overrides and for what templates see.
    seen = classes(fleet, members(fleet, WITH_TEMPLATE))
    assert work.total("rendered") == seen
    assert work.total("values composed") <= seen + 2 * len(fleet.model.overrides)
    # Each definition is a layer, composed once, or twice where `without` takes something from it; all
    # layers of a class together are composed only where its values are.
    layers = Counter({label: count for label, count in work["composed"].items() if label is not None})
    assert layers.total() <= 1.5 * (len(fleet.model.features) + len(fleet.model.groups)) + len(fleet.classes)


def only_what_changed(work: Work, fleet: Fleet, path: str, concerned: Iterable[str]) -> None:
    """A check after one file has changed: that file is parsed, and nodes are looked at that it concerns."""
    # The settings of the commit before, too, where the file says who the nodes are.
    assert set(work["parsed"]) == {"gitcfg.yaml", path}
    assert work["parsed"][path] == 1
    assert work.total("judged by schema") == work.total("parsed") <= 3
    # The kinds that have not changed are not written again: what is, are one pack and answers.
    assert len(work["kept"]) <= 4
    overridden = [name for override in fleet.model.overrides.values() for name in override.members or ()]
    most = classes(fleet, {*concerned, *overridden}) + WITNESSES
    assert work.total("looked at") <= most
    assert work.total("compiled") <= most + len(fleet.model.overrides)
    assert work.most("looked at") == work.most("suspected") == 1
    # In proportion to the fleet is only what git says of the files, and what is kept of that.
    assert folders(work["unpacked"])["nodes"] <= most + len(fleet.model.nodesets)


def made_from(fleet: Fleet, name: str) -> set[str]:
    """The files of a node, its groups and features, and of what these lead to; not of other nodes."""
    model: Model = fleet.model
    said = fleet.roster.definition(name)
    groups = {model.settings.default_group, *(ref.name for ref in said.groups)}
    todo = [use.feature for group in groups for use in model.groups[group].features]
    todo += [use.feature for use, _ in said.features]
    features: set[str] = set()
    while todo:
        feature = todo.pop()
        if feature not in features:
            features.add(feature)
            found = model.features[feature]
            todo += [use.feature for use in found.include] + [ref.name for ref in found.depends]
    own = {f"nodes/{name}.yaml"} if name in model.nodes else set()
    return own | {f"groups/{group}.yaml" for group in groups} | {f"features/{name}.yaml" for name in features}


def of_one_node(pool: Pool, name: str, touched: Iterable[object]) -> None:
    """Files that were parsed or unpacked to answer about a node: its own, and none that is another's.

    What declares parameters and subsystems, sets and overrides may speak of any node.
    """
    fleet = pool.fleet
    paths = {str(path) for path in touched}
    general = {"gitcfg.yaml", "parameters", "subsystems", "nodesets", "overrides"}
    mine = {path for path in paths if path.partition("/")[0] not in general}
    assert mine == made_from(fleet, name)


def only_one_node(pool: Pool, words: tuple[str, ...], name: str) -> None:
    """A command about one node, cold and warm."""
    cold = pool.cold(*words)
    of_one_node(pool, name, cold["parsed"])
    assert cold.most("parsed") == 1
    pool.cold(*CHECK, "--at", "HEAD")
    warm = pool.run(*words)
    assert once(warm["parsed"], ["gitcfg.yaml"])
    of_one_node(pool, name, warm["unpacked"])
    for work in (cold, warm):
        assert work.total("compiled") == 1
        assert work.total("values composed") <= 1
        assert work.most("composed") <= 2  # the three lowest layers as one, and all of them
        assert work.total("rendered") <= 2  # a template is tried for errors, and rendered


def only_concerned(work: Work, old: Fleet, new: Fleet, concerned: set[str]) -> None:
    """A comparison: no node is compiled that the change cannot concern."""
    assert work.total("compiled") == classes(old, concerned) + classes(new, concerned)
    assert work.total("values composed") <= work.total("compiled")


def spliced_only(pool: Pool, work: Work) -> None:
    """All parameters as text: each class's is put together once, from pieces, and never as values."""
    assert work.total("spliced") == len(pool.fleet.classes)
    assert work.most("spliced") == 1
    assert work.total("values composed") == work.total("written") == work.total("rendered") == 0
    assert work["composed"][None] == 0  # no class's layers were composed with each other


def only_these_are_hashed(pool: Pool, work: Work, dirty: Iterable[str]) -> None:
    """git knows the ids of clean files; of dirty ones each byte is read for the id, and to be parsed."""
    sizes = {str(pool.folder / path): len(pool.files[path]) for path in dirty}
    read = {place: count for place, count in work["hashed"].items() if place in sizes}
    assert set(work["hashed"]) - sizes.keys() <= {str(pool.folder / "gitcfg.yaml")}
    assert all(sizes[place] <= count <= 2 * sizes[place] for place, count in read.items())
    assert read.keys() == sizes.keys()
