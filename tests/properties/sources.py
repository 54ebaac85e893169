"""YAML source texts of bindings, by kind of parameter: few values, so that layers meet often."""

import json
from collections.abc import Mapping

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.properties.universe import SECRETS

Source = str
"""A value as it is written in YAML, in one line."""

_EXPRESSIONS = (
    "a",
    "b && c",
    "a || b",
    "a && b || c",
    "A == 1 && B",
    "(a || b)",
    "(a) && (b)",
    "f(x, y)",
    "ifThenElse(a && b, c, d)",
    "x ? y : z",
    "a && (x ? y : z)",
    "!a",
    "$(START)",
    '"p || q"',
    '"a\\" || b"',
    "'it || is'",
    "TARGET.Memory",
    "a[1] || b",
    '{"x", "||"}',
    "a =?= UNDEFINED",
    "1.5",
)

SCALARS: Mapping[str, tuple[Source, ...]] = {
    "string": ("a", '"b, c"', "017", "1.10", "TRUE", "no", '""', '"null"', "0x1F", "2027-01-15", "1e3"),
    "integer": ("0", "7", "-3", '"10"', "017", '"-4"'),
    "number": ("1", "1.5", '"2.5"', "-0.25", "1e3", '"10"'),
    "boolean": ("true", "False", '"TRUE"', "tRuE", "'false'"),
    "path": ("/a", '"/b c"', "/017"),
    "expression": (*map(json.dumps, _EXPRESSIONS), "TRUE", "10", "017"),
}
_LISTS = ("[a]", "[a, b]", "[b, c]", "[]", "[1, true, '1']", "[[a], {k: a}]", '["a, b"]', "[a, a]", "[null]")
_TEXTS = (
    "a",
    "''",
    "b",
    '"a, b"',
    '"a b"',
    '",a,, b "',
    "'f(a, b), c'",
    "'\"a, b\" c'",
    '"[a, b] c"',
    '"a\tb"',
)
_MAPS = ("{a: 1}", "{a: 2, b: x}", "{a: {c: 1}}", "{a: {c: {d: [1]}, e: 017}}", "{}", "{a: null}", "{b: [a]}")
VALUES: Mapping[str, tuple[Source, ...]] = {
    **SCALARS,
    "list": (*_LISTS, *_TEXTS),
    "map": _MAPS,
    "any": ("a", '"017"', "017", "true", "1.5", "[a, 1]", "{k: {l: 1}}", '""', "TRUE"),
    "undeclared": _LISTS,
    "macro": ("1", '"$(CPUS)"', "'2'"),
}
_COMPOSING: Mapping[str, tuple[str, ...]] = {
    "list": ("append", "prepend", "remove"),
    "undeclared": ("append", "prepend", "remove"),
    "map": ("merge",),
    "expression": ("and", "or"),
}
FACTS: Mapping[str, Source] = {
    "string": "lab",
    "integer": '"16"',
    "number": '"2.5"',
    "boolean": '"true"',
    "path": "/fact",
    "list": "[fact, a]",
    "map": "{a: {fact: 1}}",
    "expression": "x || fact",
    "any": "fact",
    "undeclared": "[fact]",
    "macro": '"$(FACT)"',
}


def values(kind: str) -> SearchStrategy[Source]:
    """A plain value of the kind."""
    return st.sampled_from(VALUES[kind])


def bindings(kind: str) -> SearchStrategy[Source]:
    """Anything that a layer may say of a parameter of the kind."""
    if kind == "secret":
        return st.sampled_from((*map("{{$secret: {}}}".format, SECRETS), "{$unset: true}"))
    plain = values(kind)
    operations = [plain, st.just("null"), plain.map("{{$default: {}}}".format)]
    operations.append(st.just(f"{{$fact: {kind}}}"))
    operations += [plain.map(f"{{{{${name}: {{}}}}}}".format) for name in _COMPOSING.get(kind, ())]
    return st.one_of(*operations, st.just("{$unset: true}"))
