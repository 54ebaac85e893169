"""Mistakes that show on nodes only: 3xx, and 4xx without rules. Most bring a node of their own."""

from collections.abc import Mapping
from random import Random

from gitcfg.generate.emit import to_yaml
from gitcfg.generate.mistakes.planter import Files, Planter, feature, node, parameters
from gitcfg.generate.overrides import END
from gitcfg.generate.secrets import secret


def missing_dependence() -> Files:
    """A node has a feature, but not what that depends on."""
    features = feature("mistake-301", depends=["mistake-301-b"]) | feature("mistake-301-b")
    return features | node("301", features=["mistake-301"])


def conflicting_features() -> Files:
    """A node has two features that conflict."""
    features = feature("mistake-302", conflicts=["mistake-302-b"]) | feature("mistake-302-b")
    return features | node("302", features=["mistake-302", "mistake-302-b"])


def missing_parameter() -> Files:
    """A node binds a parameter, but not what that depends on."""
    declared = parameters("303", MISTAKE_303={"depends": ["MISTAKE_303_B"]}, MISTAKE_303_B={})
    return declared | node("303", params={"MISTAKE_303": "x"})


def conflicting_parameters() -> Files:
    """A node binds two parameters that conflict."""
    declared = parameters("304", MISTAKE_304={"conflicts": ["MISTAKE_304_B"]}, MISTAKE_304_B={})
    return declared | node("304", params={"MISTAKE_304": "x", "MISTAKE_304_B": "y"})


def nothing_said() -> Files:
    """A node binds what must be changed to nothing."""
    declared = parameters("305", MISTAKE_305={"type": "string", "must_change": True})
    return declared | node("305", params={"MISTAKE_305": None})


def too_many_together() -> Files:
    """Two layers add an item each, and only one is allowed."""
    declared = parameters("306", MISTAKE_306={"type": "list", "schema": {"maxItems": 1}})
    below = feature("mistake-306", params={"MISTAKE_306": {"$append": "a"}})
    return declared | below | node("306", features=["mistake-306"], params={"MISTAKE_306": {"$append": "b"}})


def newline_in_env() -> Files:
    """Two lines in a file of one line a parameter."""
    entry = {"/etc/mistake-309": {"format": "env", "params": ["MISTAKE_309"]}}
    declared = parameters("309", MISTAKE_309={"type": "string"})
    return declared | node("309", params={"MISTAKE_309": "a\nb"}, files=entry)


def name_inside_name() -> Files:
    """A name that would be both a value and a table."""
    declared = parameters("310", **{"mistake310": {}, "mistake310.b": {}})
    entry = {"/etc/mistake-310": {"format": "json", "params": ["mistake310*"]}}
    return declared | node("310", params={"mistake310": "x", "mistake310.b": "y"}, files=entry)


def text_that_does_not_parse() -> Files:
    """A file that is called JSON and is none."""
    return node("307", files={"/etc/generated/mistake.json": {"text": "{"}})


def missing_fact() -> Files:
    """A node is asked for a fact that it has not."""
    declared = parameters("311", MISTAKE_311={"type": "string"})
    return declared | node("311", params={"MISTAKE_311": {"$fact": "mistake-311"}})


def unanswerable_question() -> Files:
    """An override for the nodes with a fact of some value, and no node has such a fact."""
    said = {
        "where": 'node.facts.mistake == "408"',
        "reason": "planted",
        "until": END,
        "params": {"MISTAKE_408": "x"},
    }
    return {"overrides/mistake-408.yaml": to_yaml(said)} | parameters("408", MISTAKE_408={})


def circle_of_collecting() -> Files:
    """A node has a feature that collects from all who have it what these collect by it."""
    declared = parameters("406", MISTAKE_406={"type": "list"})
    collected = {"$collect": {"param": "MISTAKE_406", "feature": "mistake-406"}}
    return (
        declared
        | feature("mistake-406", params={"MISTAKE_406": collected})
        | node("406", features=["mistake-406"])
    )


def forbidden_secret() -> Files:
    """A node is given a secret that no node may have."""
    declared = parameters("308", MISTAKE_308={"type": "string", "secret": True})
    files = dict(secret("mistake-308", 1, Random("308").randbytes(160), "false"))
    return declared | files | node("308", params={"MISTAKE_308": {"$secret": "mistake-308"}})


NODES: Mapping[str, Planter] = {
    "GC301": missing_dependence,
    "GC302": conflicting_features,
    "GC303": missing_parameter,
    "GC304": conflicting_parameters,
    "GC305": nothing_said,
    "GC306": too_many_together,
    "GC307": text_that_does_not_parse,
    "GC308": forbidden_secret,
    "GC309": newline_in_env,
    "GC310": name_inside_name,
    "GC311": missing_fact,
    "GC406": circle_of_collecting,
    "GC408": unanswerable_question,
}
