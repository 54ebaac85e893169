"""A repository's files held against the schemas that editors get of it; jsonschema is the judge."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from jsonschema import Draft7Validator

from gitcfg.check.run import check
from gitcfg.compile.fleet import compile_tree
from gitcfg.editor.schemas import KINDS, build_schemas
from gitcfg.git.tree import EntryKind, Tree
from gitcfg.load import document
from gitcfg.model import Finding, GitcfgError

TODAY = date(2026, 1, 1)
_META = Draft7Validator.META_SCHEMA
_CHOICES = {"type": "array", "items": True, "minItems": 1, "uniqueItems": True}
STRICT = {**_META, "properties": {**_META["properties"], "enum": _CHOICES}}
"""What editors want of schemas: theirs takes no `enum` that is empty, or says anything twice."""


def judges(made: Mapping[str, Any]) -> dict[str, Draft7Validator]:
    """A validator for each kind."""
    return {kind: Draft7Validator(schema) for kind, schema in made.items()}


def assert_sound(tree: Tree) -> None:
    """The schemas are such as editors take."""
    for schema in build_schemas(compile_tree(tree, TODAY).model).values():
        Draft7Validator(STRICT).validate(schema)


def documents(tree: Tree) -> Iterator[tuple[str, str, Any]]:
    """Every document that can be read, with its kind and path."""
    found = [(kind, entry) for kind in KINDS for entry in tree.entries(kind)]
    settings = tree.entry("gitcfg.yaml")
    for kind, entry in [*([("gitcfg", settings)] if settings else []), *found]:
        if entry.kind is EntryKind.FILE and entry.path.endswith(".yaml") and entry.size <= 1 << 20:
            read = document.parse(entry.path, tree.read(entry))
            if not read.findings:
                yield kind, entry.path, read.value


def refused(tree: Tree) -> dict[str, str]:
    """The files that the schemas refuse, and why."""
    judge = judges(build_schemas(compile_tree(tree, TODAY).model))
    told: dict[str, str] = {}
    for kind, path, value in documents(tree):
        error = next(judge[kind].iter_errors(value), None)
        if error is not None:
            told[path] = f"{error.json_path}: {error.message[:300]}"
    return told


def suspected(tree: Tree) -> dict[str, list[Finding]]:
    """The files that findings of whatever severity name."""
    found: dict[str, list[Finding]] = {}
    for finding in check(compile_tree(tree, TODAY)):
        for file in {origin.file for origin in finding.origins}:
            found.setdefault(file, []).append(finding)
    return found


def broken(tree: Tree) -> dict[str, str]:
    """What the schemas refuse although nothing is wrong with it: there must be none."""
    try:
        wrong = refused(tree)
    except GitcfgError:
        return {}
    found = suspected(tree) if wrong else {}
    return {path: why for path, why in wrong.items() if path not in found}
