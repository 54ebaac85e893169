"""secrets/: what NAME.yaml says, where NAME.age stands, and that neither is mistaken for the other."""

import pytest

from gitcfg.git.tree import DictTree, Symlink
from gitcfg.load.repository import load
from gitcfg.model import Op, Origin, Ref
from tests.load.keeping import Dictionary, Watched

SAID = """\
description: The pool's password.
for: '"Execute" in node.features'
version: 3
recipients:
  - age1abc alice
  - ssh-ed25519 AAAA server
"""
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "secrets/a/pool.yaml": SAID,
    "secrets/a/pool.age": "sealed",
    "secrets/key.yaml": "for: 'true'\nversion: 1\n",
    "secrets/pool.age": "of another folder",
}


def test_a_secret_is_what_its_file_says() -> None:
    model = load(DictTree(FILES))
    assert list(model.secrets) == ["pool", "key"]
    file = "secrets/a/pool.yaml"
    found = model.secrets["pool"]
    assert found.origin == Origin(file)
    assert found.description == "The pool's password."
    assert found.where == Ref('"Execute" in node.features', Origin(file, 2, 6))
    assert found.version == 3
    assert found.recipients == (
        Ref("age1abc alice", Origin(file, 5, 5)),
        Ref("ssh-ed25519 AAAA server", Origin(file, 6, 5)),
    )
    assert found.sealed == Origin("secrets/a/pool.age")
    assert model.secrets["key"].sealed is None
    assert model.findings == ()


def test_names_are_known_without_reading_and_contents_are_never_read() -> None:
    tree = Watched(FILES)
    model = load(tree)
    tree.reads.clear()
    assert ("pool" in model.secrets, "pool.age" in model.secrets) == (True, False)
    assert tree.reads == []
    assert model.secrets["key"].version == 1
    assert tree.reads == ["secrets/key.yaml"]
    assert model.findings == ()
    assert not any(path.endswith(".age") for path in tree.reads)


def test_what_is_kept_says_the_same_and_where_contents_stand_is_looked_up() -> None:
    keeper = Dictionary()
    first = dict(load(DictTree(FILES), keeper).secrets.items())
    tree = Watched(FILES)
    assert dict(load(tree, keeper).secrets.items()) == first
    assert not any(path.startswith("secrets/") for path in tree.reads)
    without = {path: text for path, text in FILES.items() if path != "secrets/a/pool.age"}
    assert load(DictTree(without), keeper).secrets["pool"].sealed is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("version: 1\n", "GC102"),
        ("for: 'true'\n", "GC102"),
        ("for: 'true'\nversion: 0\n", "GC102"),
        ("for: 'true'\nversion: one\n", "GC102"),
        ("for: 'true'\nversion: 1\nwho: me\n", "GC102"),
        ("for: 'true'\nversion: 1\nrecipients: age1abc\n", "GC102"),
        ("for: 'true'\nversion: 1\nrecipients: [age1abc, age1abc]\n", "GC103"),
        ("for: [", "GC101"),
        ("for:\nversion: 1\n", "GC106"),
    ],
)
def test_what_is_wrong_is_found(text: str, code: str) -> None:
    model = load(DictTree({"gitcfg.yaml": "format: 1\n", "secrets/s.yaml": text}))
    assert [finding.code for finding in model.findings] == [code]
    assert ("s" in model.unread.get("secrets", ())) is (code != "GC103")
    assert "s" in model.secrets


def test_names_are_unique_whatever_their_folders() -> None:
    twice = {"secrets/b/key.yaml": "for: 'true'\nversion: 9\n", "secrets/b/key.age": "x"}
    model = load(DictTree({**FILES, **twice}))
    assert [finding.code for finding in model.findings] == ["GC103"]
    assert model.secrets["key"].version == 9


def test_a_link_is_no_content() -> None:
    linked = {**FILES, "secrets/a/pool.age": Symlink("key.yaml")}
    model = load(DictTree(linked))
    assert model.secrets["pool"].sealed is None
    assert [finding.code for finding in model.findings] == ["GC101"]


def test_bindings_and_declarations_speak_of_secrets() -> None:
    files = {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": "defaults: {secret: true}\nparameters: {A: {}, B: {secret: false}}\n",
        "groups/g.yaml": "params: {A: {$secret: pool}}\n",
    }
    model = load(DictTree(files))
    assert [model.parameters[name].secret for name in "AB"] == [True, False]
    bound = model.groups["g"].params["A"]
    assert (bound.op, bound.given) == (Op.SECRET, "pool")
    assert model.findings == ()
