"""What editors know of secrets: their names, where they belong, and where nothing else does."""

from random import Random

import pytest

from gitcfg.compile.fleet import compile_tree
from gitcfg.editor.schemas import build_schemas
from gitcfg.generate.files import secret
from gitcfg.git.tree import DictTree
from tests.editor.judged import TODAY, assert_sound, judges, refused

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": (
        "parameters:\n"
        "  S: {type: integer, secret: true, default: 5, description: d, schema: {minimum: 9}}\n"
        "  T: {type: list, description: d}\n"
        "  U: {description: d}\n"
    ),
    "groups/g.yaml": "params: {S: {$secret: pool}, T: {$secret: pool}, U: {$secret: pool}}\n",
    "features/F.yaml": "params: {S: {$secret: '${as}-key'}, T: {$secret: '${as}'}, U: {$secret: '${as}'}}\n",
    **dict(secret("pool", 1, Random(0).randbytes(160))),
}


def taken(document: object, kind: str = "groups") -> bool:
    made = build_schemas(compile_tree(DictTree(FILES), TODAY).model)
    return judges(made)[kind].is_valid(document)


def test_what_is_right_is_taken() -> None:
    files = {**FILES, "parameters/p.yaml": FILES["parameters/p.yaml"].replace("default: 5, ", "")}
    assert refused(DictTree(files)) == {}
    assert_sound(DictTree(files))
    assert list(refused(DictTree(FILES))) == ["parameters/p.yaml"]  # what is secret has no default


@pytest.mark.parametrize("bound", [{"$secret": "pool"}, {"$secret": "${as}"}, {"$unset": True}, None])
def test_a_secret_parameter_takes_secrets(bound: object) -> None:
    assert taken({"params": {"S": bound}})


@pytest.mark.parametrize(
    "bound", [9, "text", {"$secret": "other"}, {"$default": 9}, {"$fact": "x"}, {"$append": 9}, {}, {"a": 1}]
)
def test_and_nothing_else(bound: object) -> None:
    assert not taken({"params": {"S": bound}})


@pytest.mark.parametrize("name", ["T", "U"])
def test_any_parameter_takes_a_secret_that_there_is(name: str) -> None:
    assert taken({"params": {name: {"$secret": "pool"}}})
    assert not taken({"params": {name: {"$secret": "pol"}}})


def test_a_plain_default_is_shown_to_nobody() -> None:
    made = build_schemas(compile_tree(DictTree(FILES), TODAY).model)
    said = made["groups"]["properties"]["params"]
    entry = (said if "properties" in said else made["groups"]["definitions"]["params"])["properties"]["S"]
    assert "default" not in entry
    assert "default" not in entry["markdownDescription"]
    assert "secret" in entry["markdownDescription"]


def test_secrets_have_a_schema() -> None:
    assert taken({"for": "true", "version": 1, "recipients": ["age1"]}, "secrets")
    assert not taken({"for": "true", "version": 0}, "secrets")
    assert not taken({"version": 1}, "secrets")
