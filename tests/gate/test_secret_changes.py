"""Secrets that come, go, and are for others: every one is told once, by what those with a key could do."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.cache import NoCache
from gitcfg.gate.changes import describe_secret_changes, find_secret_changes, secret_change_to_json
from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet
from gitcfg.model.age import age_key
from tests.compile.fleets import TODAY

POOL = {
    "gitcfg.yaml": "format: 1\n",
    "nodesets/n.yaml": "nodes: n[1-4]\ngroups: []\n",
}
NODES = {f"n{number}" for number in range(1, 5)}
CONDITIONS = {
    "true": NODES,
    "false": set(),
    'node.name == "n1"': {"n1"},
    'node.name != "n1"': NODES - {"n1"},
    "node.name ==": set(),  # which cannot be read
    'int(node.name) == 1 || node.name == "n2"': {"n2"},  # which fails elsewhere
}
KEYS = {number: age_key(bytes([number]) * 32) for number in range(1, 4)}


class Said(msgspec.Struct, frozen=True):
    """What a secret's file says; keys with how often they are called otherwise."""

    where: str
    keys: dict[int, str]
    version: int = 1
    sealed: str = "one"

    def text(self) -> str:
        keys = "".join(f"  - {KEYS[number]} {comment}\n" for number, comment in self.keys.items())
        listed = f"recipients:\n{keys}" if keys else "recipients: []\n"
        return f"for: {msgspec.json.encode(self.where).decode()}\nversion: {self.version}\n{listed}"


SAID = st.builds(
    Said,
    st.sampled_from(sorted(CONDITIONS)),
    st.dictionaries(st.sampled_from(sorted(KEYS)), st.sampled_from(["alice", "bob"])),
    st.integers(1, 2),
    st.sampled_from(["one", "another"]),
)
SECRETS = st.dictionaries(st.sampled_from(["a", "b", "c"]), SAID)


def fleet(secrets: dict[str, Said], folder: str) -> Fleet:
    files = {f"secrets/{folder}{name}.yaml": said.text() for name, said in secrets.items()}
    files |= {f"secrets/{folder}{name}.age": said.sealed for name, said in secrets.items()}
    return Fleet(DictTree(POOL | files), None, TODAY, NoCache())


@settings(max_examples=60)
@given(SECRETS, SECRETS, st.sampled_from(["", "in/"]))
def test_every_secret_that_is_for_others_is_told_once(
    before: dict[str, Said], after: dict[str, Said], folder: str
) -> None:
    found = {change.name: change for change in find_secret_changes(fleet(before, ""), fleet(after, folder))}
    nobody = Said("", {})
    for name in before.keys() | after.keys():
        old, new = before.get(name, nobody), after.get(name, nobody)
        content = (old.version, old.sealed) != (new.version, new.sealed)
        if (old.where, old.keys.keys(), content) == (new.where, new.keys.keys(), False):
            assert name not in found
            continue
        change = found.pop(name)
        assert [one.key for one in change.came] == [KEYS[key] for key in new.keys if key not in old.keys]
        assert [one.key for one in change.went] == [KEYS[key] for key in old.keys if key not in new.keys]
        moved = nobody not in (old, new) and old.where != new.where
        could, can = (CONDITIONS[side.where] if moved else set() for side in (old, new))
        assert (list(change.more), list(change.fewer)) == (sorted(can - could), sorted(could - can))
        lines = describe_secret_changes([change])
        assert lines
        assert all(line.startswith(f"secret {name}: ") for line in lines)
        record = secret_change_to_json(change)
        assert record["kind"] == ("added" if old == nobody else "removed" if new == nobody else "changed")
        assert ("for" in record) == (old.where != new.where)
        assert ("may" in record) == bool(could ^ can)
        assert ("content" in record) == (content and nobody not in (old, new))
    assert not found


@pytest.mark.parametrize(
    ("version", "sealed", "said"),
    [
        (
            2,
            "another",
            "another encrypted file with the same version 2 (other recipients or other content:",
        ),
        (1, "one", "version 2 -> 1, which is lower: "),
        (1, "another", "version 2 -> 1, which is lower: nodes cannot distinguish it from an earlier one;"),
        (3, "one", "version 2 -> 3, but its encrypted file is the same"),
        (3, "another", "version 2 -> 3, another encrypted file"),
    ],
)
def test_a_content_is_not_exchanged_in_silence(version: int, sealed: str, said: str) -> None:
    old = Said("true", {1: "alice"}, 2)
    new = msgspec.structs.replace(old, version=version, sealed=sealed)
    changes = find_secret_changes(fleet({"a": old}, ""), fleet({"a": new}, ""))
    (line,) = describe_secret_changes(changes)
    assert line.startswith(f"secret a: {said}")
    told = {"old": 2, "new": version, "resealed": sealed == "another"}
    assert [secret_change_to_json(one)["content"] for one in changes] == [told]


def test_words_cannot_be_taken_for_others() -> None:
    old = Said("true", {1: "alice"})
    new = Said("node.name == 'n1' //\u202e", {1: "alice", 2: "x\u2066"})
    lines = describe_secret_changes(find_secret_changes(fleet({"a": old}, ""), fleet({"a": new}, "")))
    assert len(lines) >= 2
    assert all(line.isprintable() for line in lines)
