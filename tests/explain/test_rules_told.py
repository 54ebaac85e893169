"""What rules bring, in words: who installed, set, decided and collected it."""

from gitcfg.compile.operations import Step, TrailStep, make_trail
from gitcfg.explain.trail import Viewpoint, describe_listing, describe_step, find_places
from gitcfg.model import Op, Origin
from tests.compile.rules.fleets import fleet
from tests.compile.rules.written import install

HERE = Origin("rules/r.yaml")
VIEW = Viewpoint("n1", "default")


def words(op: Op, *path: str, nodes: tuple[str, ...] = ()) -> str:
    (step,) = make_trail([(Step(Op.SET, 1, HERE), path)], {})
    step = TrailStep(op, step.given, step.result, HERE, path, False, True, nodes)
    return describe_step(step, VIEW)


def test_rules_do_things_themselves() -> None:
    assert words(Op.SET, "rule r") == "set by rule r"
    assert (
        words(Op.SET, "feature f", "feature g", "rule r")
        == "set in feature f, included by g, installed by rule r"
    )
    assert words(Op.DEFAULT, "allocation r") == "decided for rule r"
    assert describe_listing("rule r", VIEW) == "installed by rule r"


def test_what_is_collected_is_told_with_its_nodes() -> None:
    assert words(Op.COLLECT, "rule r", nodes=("n1", "n2", "n4")) == "collected from n[1-2,4] by rule r"
    assert words(Op.COLLECT, "group g") == "collected from no node in group g"


def test_places_say_which_rule_installs_a_feature_and_where_it_says_so() -> None:
    files = {"features/f": "include: [g]", "features/g": "{}", "nodes/n1": "{}"}
    found = fleet(files, install("r", "f", line=4))
    (place,) = find_places(found, found["n1"].node_class, "g")
    assert place.layers == ("feature f", "rule r")
    assert [(origin.file, origin.line) for origin in place.origins] == [
        ("features/f.yaml", 1),
        ("rules/all.yaml", 5),
    ]
