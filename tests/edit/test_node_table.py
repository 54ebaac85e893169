"""Tables of nodes: CSV read with places, and what is made of it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.edit.draft import Draft
from gitcfg.edit.kinds import KINDS
from gitcfg.edit.node_table import (
    compose_text,
    create_nodes,
    create_nodeset,
    parse_csv,
    parse_nodes,
    read_scalar,
)
from gitcfg.edit.orders import Action, Order
from gitcfg.edit.yaml.changes import Given
from gitcfg.edit.yaml.tree import from_json
from gitcfg.git.tree import DictTree
from gitcfg.load.document import parse
from gitcfg.load.repository import load
from gitcfg.model import GitcfgError

SETTINGS = {"gitcfg.yaml": "format: 1\n"}


def _texts(table: str) -> list[list[str]]:
    return [[cell.text for cell in line] for line in parse_csv(table.encode(), "t.csv")]


def _draft(**files: str) -> Draft:
    return Draft(DictTree(SETTINGS | files))


def _created(draft: Draft) -> dict[str, Any]:
    return {path: parse(path, text or b"").value for path, text in draft.files.items()}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_the_header_says_the_delimiter(delimiter: str, end: str, mark: str) -> None:
    lines = (
        ["name", "rack", "note"],
        ["n1", "r1", f'"a{delimiter}b ""c"""'],
        ["", "", ""],
        ["n2", "", " x "],
    )
    table = mark + end.join(delimiter.join(line) for line in lines) + end
    assert _texts(table) == [["name", "rack", "note"], ["n1", "r1", f'a{delimiter}b "c"'], ["n2", "", "x"]]


@settings(max_examples=100)
@given(
    st.lists(
        st.lists(st.text(st.sampled_from('ab1 ",;\t\n')), min_size=2, max_size=2), min_size=1, max_size=4
    )
)
def test_what_is_quoted_reads_back(rows: list[list[str]]) -> None:
    quoted = (",".join('"' + text.replace('"', '""') + '"' for text in row) for row in rows)
    table = "\n".join(["name,note", *quoted])
    expected = [[text.strip() for text in row] for row in rows]
    assert _texts(table)[1:] == [row for row in expected if any(row)]


def test_cells_know_their_places() -> None:
    lines = parse_csv(b'name,"a\nb",c\nn1, x,y\n', "t.csv")
    places = [[(cell.origin.line, cell.origin.column) for cell in line] for line in lines]
    assert places == [[(1, 1), (1, 6), (2, 4)], [(3, 1), (3, 4), (3, 7)]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (b"", "t.csv is empty."),
        (b"name,rack\n", "t.csv has a header, but no nodes."),
        (b"rack,Name\nr1,n1\n", "t.csv:1:1: The header has no column `name`."),
        (b"host,rack\nn1,r1\n", "t.csv:1:1: The header has no column `name`."),
        (b"name,rack,rack\nn1,r1,r2\n", "t.csv:1:11: The column rack is there twice."),
        (b"name,node\nn1,n1\n", "t.csv:1:6: The column name is there twice."),
        (b"name,,rack\nn1,,r1\n", "t.csv:1:6: The column has no name."),
        (b"name,group\nn1,g\n", "t.csv:1:6: A fact cannot be called group in a table."),
        (b"name,params\nn1,g\n", "t.csv:1:6: A table of nodes has no column params."),
        (b"name,rack\nn1,r1,r2\n", "t.csv:2:7: The line has more cells than the header, which has 2."),
        (b"rack,name\nr1\n", "t.csv:2:1: The line has no node."),
        (b"name,rack\n,r1\n", "t.csv:2:1: The line has no node."),
        (b"name,rack\nn_1,r1\n", "t.csv:2:1: 'n_1' is not a host name."),
        (b"name,rack\nn[1-2],r1\n", "t.csv:2:1: 'n[1-2]' is not a host name."),
        (b"name,rack\nn1,r1\nN1,r2\n", "t.csv:3:1: The node N1 is in line 2 already."),
        (b'name,rack\nn1,"r1\n', "t.csv:2:4: The quotes of this cell are not correct."),
        (b'name,rack\nn1,"r1"x\n', "t.csv:2:4: The quotes of this cell are not correct."),
        (b"name,rack\nn1,\xe4\n", "t.csv:2:4: The file is not UTF-8 text."),
        (b"name,rack\nn1,\0\n", "t.csv:2:4: The file contains a NUL character."),
    ],
)
def test_what_is_wrong_has_a_place(table: bytes, message: str) -> None:
    with pytest.raises(GitcfgError) as raised:
        parse_nodes(table, "t.csv")
    assert raised.value.message == message
    assert all(raised.value.hints)


def test_empty_cells_at_the_end_are_no_mistake() -> None:
    rows = parse_nodes(b"name,rack,,\nn1,r1,,\nn2\n", "t.csv")
    assert [(row.name.text, list(row.cells)) for row in rows] == [("n1", ["rack"]), ("n2", [])]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("64", 64), ("1.5", 1.5), ("017", 17), ("true", True), ("null", None), ("yes", "yes")),
        *(('"017"', "017"), ("'64'", "64"), ("[a, b]", "[a, b]"), ("a: b", "a: b"), ("# x", "# x")),
        *(("00:16:3e:00:00:01", "00:16:3e:00:00:01"), ("2026-01-01", "2026-01-01"), ("9" * 5000, "9" * 5000)),
    ],
)
def test_cells_are_yaml_scalars(text: str, value: Any) -> None:
    table = f'name,key\nn1,"{text.replace(chr(34), chr(34) * 2)}"\n'
    draft = _draft()
    create_nodes(draft, parse_nodes(table.encode(), "t.csv"), Order(Action.NEW, "node", ""))
    ((_, made),) = _created(draft).items()
    assert repr(made) == repr({"facts": {"key": value}})
    assert read_scalar(text).source is None


TABLE = b"""name,groups,labels,rack,slot,row,address,description
n1,"a b",new,r1,1,x,10.0.0.1,One
n2,"Web servers,",,r1,2,x,,
"""


def test_a_node_is_a_file_with_what_is_common() -> None:
    common = Order(
        Action.NEW,
        "node",
        "",
        "nodes/rack1",
        add={"groups": (Given("b"), Given("c"))},
        put={"params": {"START": Given("x: y")}, "facts": {"row": Given("z"), "room": Given("q")}},
    )
    draft = _draft()
    create_nodes(draft, parse_nodes(TABLE, "t.csv"), common)
    assert _created(draft) == {
        "nodes/rack1/n1.yaml": {
            "description": "One",
            "address": "10.0.0.1",
            "groups": ["a", "b", "c"],
            "params": {"START": "x: y"},
            "labels": ["new"],
            "facts": {"row": "x", "room": "q", "rack": "r1", "slot": 1},
        },
        "nodes/rack1/n2.yaml": {
            "groups": ["Web servers", "b", "c"],
            "params": {"START": "x: y"},
            "facts": {"row": "x", "room": "q", "rack": "r1", "slot": 2},
        },
    }


def _table(count: int) -> bytes:
    rows = (f"n{i:03d},r{i // 20},{i % 20},x,{i * 7919}" for i in range(count))
    return "\n".join(["name,rack,slot,row,serial", *rows]).encode()


def test_a_node_set_writes_equal_facts_once() -> None:
    draft = _draft()
    create_nodeset(draft, parse_nodes(_table(60), "t.csv"), Order(Action.NEW, "nodeset", "s"))
    made = _created(draft)["nodesets/s.yaml"]
    assert made["nodes"] == "n[000-059]"
    assert made["facts"] == {"row": "x"}
    assert list(made["node_facts"].items())[:4] == [
        ("n[000-019]", {"rack": "r0"}),
        ("n[020-039]", {"rack": "r1"}),
        ("n[040-059]", {"rack": "r2"}),
        ("n000", {"slot": 0, "serial": 0}),
    ]


def test_very_many_scattered_nodes_get_several_keys() -> None:
    rows = "\n".join(f"n{number * number * 31:09d},{number % 2 or 'x'}" for number in range(500))
    draft = _draft()
    create_nodeset(
        draft, parse_nodes(f"name,odd\n{rows}".encode(), "t.csv"), Order(Action.NEW, "nodeset", "s")
    )
    made = _created(draft)["nodesets/s.yaml"]
    assert max(map(len, made["node_facts"])) <= 400


values = st.sampled_from(["", "a", "b", "1", "017", "true", '"x"'])


@settings(max_examples=60)
@given(st.lists(st.tuples(values, values, values), min_size=1, max_size=30))
def test_a_set_gives_each_node_the_facts_of_its_own_file(rows: list[tuple[str, str, str]]) -> None:
    cells = (",".join(f'"{text.replace(chr(34), chr(34) * 2)}"' for text in row) for row in rows)
    table = "\n".join(["name,a,b,c", *(f"n{i:02d},{line}" for i, line in enumerate(cells))]).encode()
    files, sets = _draft(), _draft()
    create_nodes(files, parse_nodes(table, "t.csv"), Order(Action.NEW, "node", ""))
    create_nodeset(sets, parse_nodes(table, "t.csv"), Order(Action.NEW, "nodeset", "s"))
    alone, together = load(files.tree), load(sets.tree)
    assert not together.findings
    nodeset = together.nodesets["s"]
    for name, node in alone.nodes.items():
        facts = {**nodeset.definition.facts, **nodeset.facts.get(name, {})}
        assert repr(sorted(facts.items())) == repr(sorted(node.facts.items()))


@pytest.mark.parametrize(
    ("files", "kind", "message"),
    [
        ({"nodes/n1.yaml": "{}"}, "node", "t.csv:2:1: The node n1 already exists."),
        ({"nodes/n2.yaml": "{}"}, "nodeset", "t.csv:3:1: The node n2 has a file of its own already."),
        ({"nodesets/old.yaml": "nodes: n2"}, "node", "t.csv:3:1: The node n2 is in a node set already."),
        (
            {"nodesets/old.yaml": "nodes: n2"},
            "nodeset",
            "t.csv:3:1: The node n2 is in the node set old already.",
        ),
        ({"nodesets/s.yaml": "nodes: n9"}, "nodeset", "t.csv:2:1: The node set s already exists."),
        ({}, "nodeset", "t.csv:3:4: In a node set, groups is the same"),
    ],
)
def test_nothing_is_created_twice(files: dict[str, str], kind: str, message: str) -> None:
    draft = _draft(**files)
    create = create_nodeset if kind == "nodeset" else create_nodes
    column = "rack" if files else "groups"
    rows = parse_nodes(f"name,{column}\nn1,a\nn2,b\n".encode(), "t.csv")
    with pytest.raises(GitcfgError) as raised:
        create(draft, rows, Order(Action.NEW, kind, "s" if kind == "nodeset" else ""))
    assert raised.value.message.startswith(message)
    assert not draft.files


def test_a_set_larger_than_a_file_is_refused() -> None:
    rows = parse_nodes(("name,key\n" + "".join(f"n{i},{i:0900d}x\n" for i in range(1200))).encode(), "t.csv")
    with pytest.raises(GitcfgError, match="a file has at most 1 MiB"):
        create_nodeset(_draft(), rows, Order(Action.NEW, "nodeset", "s"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=100)
@given(
    st.dictionaries(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), json_values)
)
def test_composed_text_reads_back(facts: dict[str, Any]) -> None:
    order = Order(
        Action.NEW,
        "node",
        "n1",
        put={"facts": {name: Given(from_json(value)) for name, value in facts.items()}},
    )
    found = parse("n", compose_text(KINDS["node"], order).encode("utf-8", "surrogatepass"))
    readable = "\\u" not in repr(facts)  # what YAML forbids is a finding, however it is written
    assert not readable or found.findings or repr(found.value) == repr({"facts": facts} if facts else {})


def test_a_key_of_another_kind_is_refused() -> None:
    with pytest.raises(GitcfgError):
        compose_text(KINDS["node"], Order(Action.NEW, "node", "n1", fields={"nodes": Given("x")}))
