"""What a reference says: who uses what, and what is shown to nobody."""

import pytest

from gitcfg.convert.reference.content import Code, Entry, Fact, Line, Link, Ranking, Table, Text
from tests.convert.reference.reading import of
from tests.pictures.fleets import fleet

FILES = {
    "parameters/a.yaml": """\
parameters:
  START:
    {description: Jobs., type: expression, default: "TRUE", restart: true, depends: [SLOTS], tags: [run]}
  SLOTS: {type: integer, must_change: true, schema: {minimum: 1}}
  QUEUE: {conflicts: [SLOTS]}
  "TYPE_*": {type: string}
  PASSWORD: {type: string, secret: true, default: hunter2}
""",
    "subsystems/s.yaml": """\
subsystems:
  startd:
    {params: [START, "TYPE_*"], files: [/etc/passwd], features: [Execute], restart: [restart, "-d", "a b"]}
  master: {covers: [startd]}
""",
    "features/Execute.yaml": """\
description: Runs jobs.
include: [Base]
depends: [Net]
conflicts: [Submit]
params: {START: null, SLOTS: 4, TYPE_1: x, PASSWORD: hunter3, LIST: {$append: a}}
files:
  /etc/config: {format: env, params: ["*", "!QUEUE"]}
""",
    "features/Gpu.yaml": "include: [Execute]\nafter: [Net]\nparams: {START: {$and: HasGpu}}\n",
    "features/Base.yaml": "params: {}\n",
    "features/Net.yaml": "params: {}\n",
    "features/Submit.yaml": "params: {}\n",
    "groups/default.yaml": "features: [Base]\n",
    "groups/Workers.yaml": "description: They work.\nfeatures: [Gpu, Net]\nparams: {SLOTS: 8}\n",
    "nodesets/exec.yaml": "nodes: exec[01-12]\ngroups: [Workers]\nlabels: [fast]\n",
    "nodes/odd.yaml": "groups: [Workers]\nparams: {SLOTS: 2}\n",
    "nodes/plain.yaml": "features: [Net, Gone]\n",
    "overrides/short.yaml": "nodes: exec01\nreason: a DIMM\nuntil: 2030-01-01\nparams: {START: 'FALSE'}\n",
}
SITE = of(fleet(FILES))


def entry(kind: str, name: str) -> Entry:
    chapter = next(each for each in SITE.chapters if each.kind == kind)
    return next(each for each in chapter.entries if each.name == name)


def shown(line: Line) -> str:
    return "".join(piece.shown if isinstance(piece, Link) else piece.text for piece in line)


def told(kind: str, name: str, label: str) -> list[str]:
    """What a part of an entry says; a row's cells with a bar between them."""
    for part in entry(kind, name).parts:
        if part.label == label and isinstance(part, Table):
            return [" | ".join(map(shown, row)) for row in part.rows]
        if part.label == label and isinstance(part, Fact | Ranking):
            return [shown(item) for item in part.items]
    return []


@pytest.mark.parametrize(
    ("kind", "name", "label", "expected"),
    [
        ("feature", "Execute", "Includes", ["Base"]),
        ("feature", "Execute", "Depends on", ["Net"]),
        ("feature", "Execute", "Conflicts with", ["Submit"]),
        ("feature", "Submit", "Conflicts with", ["Execute"]),
        ("feature", "Execute", "Included by", ["Gpu"]),
        ("feature", "Execute", "Installed by", []),
        ("feature", "Execute", "Groups, through others", ["Workers"]),
        ("feature", "Gpu", "Groups, through others", []),
        ("feature", "Net", "Installed by", ["Workers", "1 node: plain"]),
        ("feature", "Net", "Becomes active before", ["Gpu"]),
        ("feature", "Execute", "Subsystems", ["startd"]),
        ("feature", "Execute", "Nodes", ["13 nodes: exec[01-12],odd"]),
        ("feature", "Base", "Nodes", ["all 14 nodes: exec[01-12],odd,plain"]),
        ("feature", "Submit", "Nodes", ["no node"]),
        ("feature", "Execute", "Files", ["/etc/config | parameters as env: *, !QUEUE | 0644 root:root"]),
        (
            "feature",
            "Execute",
            "Parameters",
            [
                'LIST | $append ["a"]',
                "PASSWORD | (secret)",
                "SLOTS | 4",
                "START | its default",
                "TYPE_1 | x",
            ],
        ),
        ("parameter", "START", "Type", ["expression"]),
        ("parameter", "START", "Default", ["TRUE"]),
        ("parameter", "START", "A change restarts", ["startd"]),
        ("parameter", "START", "Needs", ["SLOTS"]),
        ("parameter", "START", "Tags", ["run"]),
        ("parameter", "START", "Written to", ["/etc/config"]),
        ("parameter", "QUEUE", "Written to", []),
        ("parameter", "SLOTS", "Needed by", ["START"]),
        ("parameter", "SLOTS", "Conflicts with", ["QUEUE"]),
        ("parameter", "SLOTS", "Values must satisfy", ['{"minimum":1}']),
        (
            "parameter",
            "SLOTS",
            "Must be changed",
            ["each node with this parameter needs a value from a layer"],
        ),
        (
            "parameter",
            "SLOTS",
            "Set by",
            ["feature Execute | 4", "group Workers | 8", "1 node: odd | each its own"],
        ),
        (
            "parameter",
            "START",
            "Set by",
            ["feature Execute | its default", "feature Gpu | $and HasGpu", "override short | FALSE"],
        ),
        ("parameter", "TYPE_*", "Of this family", ["TYPE_1"]),
        ("parameter", "TYPE_*", "Set by", ["feature Execute: TYPE_1 | x"]),
        ("parameter", "TYPE_*", "A change reloads", ["startd"]),
        ("parameter", "LIST", "Declared", ["nowhere"]),
        ("parameter", "LIST", "Type", ["list"]),
        ("parameter", "PASSWORD", "Default", ["(secret)"]),
        ("subsystem", "startd", "Restarted by", ["START"]),
        ("subsystem", "startd", "Reloaded by", ["TYPE_*"]),
        ("subsystem", "startd", "Reloaded by files", ["/etc/passwd"]),
        ("subsystem", "startd", "Restarted with", ["master"]),
        ("subsystem", "startd", "To restart", ["restart -d 'a b'"]),
        ("subsystem", "startd", "Nodes", ["13 nodes: exec[01-12],odd"]),
        ("subsystem", "master", "Runs with", ["everywhere"]),
        ("subsystem", "master", "Its restart restarts", ["startd"]),
        ("group", "Workers", "Features, highest priority first", ["Gpu", "Net"]),
        ("group", "Workers", "Listed by", ["exec", "1 node: odd"]),
        ("group", "Workers", "Parameters", ["SLOTS | 8"]),
        ("group", "default", "Members", ["every node, with the lowest priority"]),
        ("nodeset", "exec", "Groups", ["Workers"]),
        ("nodeset", "exec", "Labels", ["fast"]),
        ("override", "short", "Until", ["2030-01-01"]),
        ("override", "short", "Nodes", ["1 node: exec01"]),
    ],
)
def test_what_is_told(kind: str, name: str, label: str, expected: list[str]) -> None:
    assert told(kind, name, label) == expected


def test_what_is_missing_is_no_link() -> None:
    site = of(fleet({"features/Net.yaml": "include: [Gone]\n"}))
    (net,) = site.chapters[0].entries
    assert net.parts[0] == Fact("Includes", ((Code("Gone"), Text(" (missing)")),))


def test_a_secret_is_shown_nowhere() -> None:
    assert "hunter" not in repr(SITE)


def test_what_could_not_be_read_is_noted() -> None:
    site = of(fleet({**FILES, "features/Bad.yaml": "params: [\n"}))
    assert [note for note in site.notes if "the files have 1 error" in note]
    assert not of(fleet({"features/A.yaml": "description: x\n"})).notes


def test_a_circle_of_features_has_a_tree() -> None:
    site = of(fleet({"features/A.yaml": "include: [B]\n", "features/B.yaml": "include: [A]\n"}))
    assert "and what it includes" in repr(site.chapters[0].tree)


def test_many_scattered_nodes_are_counted_only() -> None:
    files = {f"nodes/n{number}.yaml": "features: [A]\n" for number in range(1, 2001, 3)}
    files |= {f"nodes/n{number}.yaml": "features: []\n" for number in range(2, 2001, 3)}
    site = of(fleet({**files, "features/A.yaml": "description: x\n"}))
    nodes = next(part for part in site.chapters[0].entries[0].parts if part.label == "Nodes")
    assert isinstance(nodes, Fact)
    assert [shown(item) for item in nodes.items] == ["667 nodes"]
