"""Mistakes in what definitions say of each other: 2xx."""

from collections.abc import Mapping
from random import Random

from gitcfg.generate.emit import to_yaml
from gitcfg.generate.mistakes.planter import Files, Planter, feature, parameters
from gitcfg.generate.secrets import secret


def missing_feature() -> Files:
    """An include of what nobody wrote."""
    return feature("mistake-201", include=["mistake-201-nowhere"])


def circle_of_inclusion() -> Files:
    """Two features that include each other."""
    return feature("mistake-202", include=["mistake-202-b"]) | feature(
        "mistake-202-b", include=["mistake-202"]
    )


def circle_of_dependence() -> Files:
    """Two features that depend on each other."""
    return feature("mistake-203", depends=["mistake-203-b"]) | feature(
        "mistake-203-b", depends=["mistake-203"]
    )


def conflict_with_its_own() -> Files:
    """A feature that includes what it conflicts with."""
    included = feature("mistake-204-b")
    return feature("mistake-204", include=["mistake-204-b"], conflicts=["mistake-204-b"]) | included


def parameter_against_its_own() -> Files:
    """A parameter that depends on what it conflicts with."""
    other = ["MISTAKE_205_B"]
    return parameters("205", MISTAKE_205={"depends": other, "conflicts": other}, MISTAKE_205_B={})


def wrong_type() -> Files:
    """A word where a number belongs."""
    return parameters("206", MISTAKE_206={"type": "integer"}) | feature(
        "mistake-206", params={"MISTAKE_206": "many"}
    )


def useless_default() -> Files:
    """A default for what each node must say itself."""
    return parameters("207", MISTAKE_207={"type": "string", "must_change": True, "default": "x"})


def broken_template() -> Files:
    """A condition that does not end."""
    entry = {"/etc/mistake-208": {"template": "mistake-208.j2"}}
    return feature("mistake-208", files=entry) | {"templates/mistake-208.j2": "{% if params %}\n"}


def two_contents() -> Files:
    """A file entry that says twice what is in the file."""
    return feature(
        "mistake-209", files={"/etc/mistake-209": {"text": "a\n", "format": "env", "params": ["*"]}}
    )


def secret_without_content() -> Files:
    """Who may have a secret is said, and there is none."""
    said, _ = secret("mistake-210", 1, Random("210").randbytes(160))
    return dict([said])


def agent_stopped() -> Files:
    """A subsystem that ends the program which looks after the node."""
    stopping = {"mistake-213": {"description": "Planted.", "stop": ["systemctl", "stop", "gitcfg-agent"]}}
    return {"subsystems/mistake-213.yaml": to_yaml({"subsystems": stopping})}


DEFINITIONS: Mapping[str, Planter] = {
    "GC201": missing_feature,
    "GC202": circle_of_inclusion,
    "GC203": circle_of_dependence,
    "GC204": conflict_with_its_own,
    "GC205": parameter_against_its_own,
    "GC206": wrong_type,
    "GC207": useless_default,
    "GC208": broken_template,
    "GC209": two_contents,
    "GC210": secret_without_content,
    "GC213": agent_stopped,
}
