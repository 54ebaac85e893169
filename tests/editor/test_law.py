"""What nothing is wrong with, the schemas let pass: on all cases, and on random repositories."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.generate import repository
from gitcfg.git.tree import DictTree
from tests.cases_format import Case, read_cases
from tests.editor.judged import assert_sound, broken, refused
from tests.properties.runs import DEEP, QUICK
from tests.properties.sources import VALUES
from tests.properties.strategies import Files, valid, wild
from tests.properties.test_generated import SHAPES

# Where nothing else is judged, as of a later format, the schemas still judge.
CASES = [case for case in (*read_cases("findings"), *read_cases("operations")) if "GC104" not in case.name]
RULED = list(read_cases("rules"))
OWN = """
{minimum: 3} | {enum: [a, 7, true]} | {const: a} | {pattern: '^[a-z/]'} | {pattern: '(?i)^A'} | {type: string}
{type: [integer, 'null']} | {not: {type: array}} | {multipleOf: 0.25} | {enum: []} | {items: {type: string}}
{prefixItems: [{const: a}], items: false} | {contains: {const: a}} | {required: [a]} | {maxProperties: 1}
{$ref: '#/$defs/a', $defs: {a: {maxLength: 2}}} | {not: {$ref: '#/$defs/a'}, $defs: {a: {}}} | {type: strnig}
{if: {type: integer}, then: {maximum: 5}, else: {minLength: 1}} | {dependencies: {a: [z]}} | {format: ipv4}
{properties: {a: {type: integer}}, additionalProperties: false} | {not: {format: ipv4}} | {uniqueItems: true}
{minItems: 1} | {propertyNames: {maxLength: 1}} | {oneOf: [{type: number}, {type: string}]}
{exclusiveMaximum: 7} | {enum: [1, 1.0]} | {enum: [[], {}, null]} | {pattern: '^\\S+$'}
{pattern: '[[:alpha:]]'}
"""
TYPES = ("", *(f"type: {kind}, " for kind in VALUES if kind not in ("any", "undeclared", "macro")))
WRITTEN = """
"${as}" | ["${as}"] | {k: '${with.v}'} | "$(X)" | "$(X), a" | 1.0 | -0x1 | {$fact: f} | null | 1e400 | -.inf
{$append: '${as}'} | {$append: [a]} | {$merge: {a: 1}} | {$and: a} | {$or: 1} | {$merge: '$(X)'}
{$default: a} | {$default: 7} | {$default: [a]} | {$default: {a: 1}} | {$remove: 1} | {$unset: true} | {$a: 1}
"""


def listed(text: str) -> list[str]:
    return [item.strip() for line in text.strip().splitlines() for item in line.split(" | ")]


SCHEMAS = listed(OWN)
VALUES_WRITTEN = [*sorted({value for values in VALUES.values() for value in values}), *listed(WRITTEN)]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_cases(case: Case) -> None:
    assert broken(case.tree) == {}


@pytest.mark.slow
@pytest.mark.parametrize("case", RULED, ids=[case.name for case in RULED])
def test_cases_of_rules(case: Case) -> None:
    assert broken(case.tree) == {}
    assert_sound(case.tree)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "large"])
def test_generated_repositories(shape: str) -> None:
    tree = DictTree(repository(SHAPES[shape]))
    assert refused(tree) == {}
    assert_sound(tree)


@pytest.mark.slow
def test_a_large_repository() -> None:
    assert refused(DictTree(repository(SHAPES["large"]))) == {}


@pytest.mark.slow
@QUICK
@given(files=valid())
def test_valid_repositories(files: Files) -> None:
    assert broken(DictTree(files)) == {}


@pytest.mark.slow
@QUICK
@given(files=wild())
def test_wild_repositories(files: Files) -> None:
    assert broken(DictTree(files)) == {}


@pytest.mark.slow
@DEEP
@given(files=valid() | wild())
def test_many_repositories(files: Files) -> None:
    assert broken(DictTree(files)) == {}


def bound(kind: str, own: str, macros: str, value: str, other: str) -> DictTree:
    """A parameter with a schema of its own, a family beside it, and what two groups say of them."""
    said = f"{{description: One., {kind}{macros}schema: {own}}}"
    parameters = f'parameters:\n  P: {said}\n  "P*": {{description: All.}}\n  "Q_*": {said}\n'
    return DictTree(
        {
            "gitcfg.yaml": "format: 1\n",
            "parameters/p.yaml": parameters,
            "groups/one.yaml": f"params: {{P: {value}, Q_1: {value}}}\n",
            "groups/two.yaml": f"params: {{P: {other}, PQ: 1}}\n",
            "features/A.yaml": f'params: {{"Q_${{as}}": {value}, P: {other}}}\n',
        }
    )


BOUND = st.builds(
    bound,
    st.sampled_from(TYPES),
    st.sampled_from(SCHEMAS),
    st.sampled_from(("", "macros: condor, ")),
    st.sampled_from(VALUES_WRITTEN),
    st.sampled_from(VALUES_WRITTEN),
)


@QUICK
@given(tree=BOUND)
def test_schemas_of_parameters(tree: DictTree) -> None:
    assert broken(tree) == {}
    assert_sound(tree)


@pytest.mark.parametrize("case", CASES[::20], ids=[case.name for case in CASES[::20]])
def test_editors_take_the_schemas(case: Case) -> None:
    assert_sound(case.tree)


@pytest.mark.slow
@pytest.mark.parametrize("own", SCHEMAS)
@pytest.mark.parametrize("kind", TYPES)
def test_every_value_against_every_schema(own: str, kind: str) -> None:
    said = f"{{description: One., {kind}schema: {own}}}"
    files = {f"groups/{at}.yaml": f"params: {{P: {value}}}\n" for at, value in enumerate(VALUES_WRITTEN)}
    files |= {"gitcfg.yaml": "format: 1\n", "parameters/p.yaml": f"parameters: {{P: {said}}}\n"}
    assert broken(DictTree(files)) == {}
