"""What a reference says of rules, and of what they speak of."""

import pytest

from gitcfg.convert.reference.content import Fact, Line, Link, Table
from gitcfg.convert.reference.markdown import render_markdown
from tests.convert.reference.reading import of
from tests.pictures.fleets import fleet

FILES = {
    "parameters/p.yaml": """parameters:
  P: {type: integer}
  S: {type: string, secret: true}
""",
    "features/F.yaml": "description: F.\n",
    "features/I.yaml": "description: I.\n",
    "nodesets/n.yaml": "nodes: n[1-3]\nlabels: [server]\nfeatures: [{feature: I, as: a, with: {x: 1}}]\n",
    "rules/r.yaml": """rules:
  put: {install: F, description: Two of them., where: '"server" in node.labels', count: {min: 1, max: 2}}
  plain: {install: F, where: node.name == "n3", over: I}
  few: {limit: F, per: node.name, count: {max: 1}}
  set: {set: {P: 17, S: hidden}}
  ports: {domain: {P: [80, "90-99"], S: [hidden]}, unique: node.facts.rack}
  own: {domain: {x: [1]}, over: I, unique: fleet}
  must: {require: 'false', message: Never.}
  out: {forbid: {by: [bill], features: ["F*"], nodes: [n1]}}
""",
    "allocations/put.yaml": "install: [n1, n2]\n",
    "allocations/own.yaml": "values: {n1/a: {x: 1}}\n",
}
SITE = of(fleet(FILES))


def shown(line: Line) -> str:
    return "".join(piece.shown if isinstance(piece, Link) else piece.text for piece in line)


def told(kind: str, name: str) -> dict[str, list[str]]:
    """What each part of an entry says; a row's cells with a bar between them."""
    chapter = next(each for each in SITE.chapters if each.kind == kind)
    found = next(each for each in chapter.entries if each.name == name)
    parts = {}
    for part in found.parts:
        rows = part.rows if isinstance(part, Table) else [(item,) for item in part.items]
        parts[part.label] = [" | ".join(map(shown, row)) for row in rows]
    return parts


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "put",
            {
                "Installs": ["F"],
                "How many": ["at least 1, at most 2"],
                "Where": ['"server" in node.labels'],
                "Nodes to which it gives something": ["2 nodes: n[1-2]"],
            },
        ),
        (
            "plain",
            {
                "Installs": ["F"],
                "Where": ['node.name == "n3"'],
                "Over instances of": ["I"],
                "Nodes to which it gives something": ["1 node: n3"],
            },
        ),
        ("few", {"Limits": ["F"], "How many": ["at most 1"], "For each": ["node.name"]}),
        (
            "set",
            {
                "Nodes to which it gives something": ["all 3 nodes: n[1-3]"],
                "Parameters": ["P | 17", "S | (secret)"],
            },
        ),
        (
            "ports",
            {
                "No value twice": ["among those of the same node.facts.rack"],
                "Values": ['P | [80,"90-99"]', "S | (secret)"],
            },
        ),
        (
            "own",
            {
                "Over instances of": ["I"],
                "No value twice": ["in the whole fleet"],
                "Nodes to which it gives something": ["1 node: n1"],
                "Values": ["x | [1]"],
            },
        ),
        ("must", {"Requires": ["false"], "Says": ["Never."]}),
        (
            "out",
            {
                "Who": ["bill"],
                "Forbidden to change, features": ["F*"],
                "Forbidden to change, nodes": ["n1"],
            },
        ),
    ],
)
def test_what_a_rule_says_is_told(name: str, expected: dict[str, list[str]]) -> None:
    assert told("rule", name) == expected


def test_what_rules_speak_of_says_so() -> None:
    feature = told("feature", "F")
    assert (feature["Installed by"], feature["Limited by"]) == (["put", "plain"], ["few"])
    parameter = told("parameter", "P")
    assert (parameter["Values by"], parameter["Set by"]) == (["ports"], ["rule set | 17"])


def test_links_lead_to_rules_and_nothing_secret_is_written() -> None:
    written = render_markdown(SITE)
    assert "](../rules/put.md)" in written["features/F.md"]
    assert "rules/must.md" in written
    assert not any("hidden" in text for text in written.values())
    assert isinstance(SITE.chapters[-1].entries[0].parts[0], Fact)
