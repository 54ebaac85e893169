"""Nodes' keys: what is handed in, where it comes to stand, and that taking it out leaves no trace."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.edit.draft import Draft
from gitcfg.edit.keys import KnownKeys, accept_keys, forget_keys, parse_keys
from gitcfg.edit.orders import Action, Order, carry_out
from gitcfg.git.tree import DictTree
from gitcfg.load.document import MAX_BYTES
from gitcfg.load.keys import fingerprint, written
from gitcfg.model import GitcfgError


def key(number: int) -> str:
    return written(number.to_bytes(32))


NODES = {f"nodes/exec{number}.yaml": "{}\n" for number in range(10)} | {"nodes/cm.yaml": "{}\n"}


def draft(**files: str) -> Draft:
    found = {name.replace("__", "/") + ".txt": text for name, text in files.items()}
    return Draft(DictTree({"gitcfg.yaml": "format: 1\n", **NODES, **found}))


def texts(edited: Draft) -> dict[str, str | None]:
    return {path: None if text is None else text.decode() for path, text in edited.files.items()}


def test_fingerprints_are_those_of_ssh_keygen(tmp_path: Path) -> None:
    for name in ("a", "b"):
        file = tmp_path / name
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "who@where", "-f", str(file)]
        subprocess.run(make, check=True)
        told = subprocess.run(["ssh-keygen", "-lf", file], check=True, capture_output=True, text=True).stdout
        (text,) = parse_keys(file.with_suffix(".pub").read_bytes(), "n").values()
        assert fingerprint(text) == told.split()[1]


def test_what_is_no_key_has_no_fingerprint() -> None:
    assert fingerprint("ssh-ed25519 AAAA") == fingerprint("ssh-rsa AAAA") == fingerprint("") == ""


def test_lines_are_handed_in_with_remarks_and_empty_lines() -> None:
    lines = f"# of rack 3\n\n exec1  {key(1)} root@exec1\nexec2 {key(2)}\r\n"
    assert parse_keys(lines.encode(), None) == {"exec1": key(1), "exec2": key(2)}


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (key(1), None, "The key has no node."),
        ("exec1 ssh-rsa AAAA", None, "Line 1 has no Ed25519 key: exec1 ssh-rsa AAAA."),
        ("ssh-rsa AAAA", "exec1", "Line 1 has no Ed25519 key: ssh-rsa AAAA."),
        (f"ex/ec {key(1)}", None, f"Line 1 has no Ed25519 key: {f'ex/ec {key(1)}'[:57]}...."),
        (f"exec1 {key(1)}\nexec1 {key(2)}", None, "Line 2 has a second key of exec1."),
    ],
)
def test_what_is_no_key_is_refused(text: str, name: str | None, message: str) -> None:
    with pytest.raises(GitcfgError) as raised:
        parse_keys(text.encode(), name)
    assert raised.value.message == message


def test_the_first_keys_come_into_a_file_of_their_own() -> None:
    edited = draft()
    accept_keys(edited, {"exec2": key(2), "exec1": key(1)})
    assert texts(edited) == {"keys/nodes.txt": f"exec1 {key(1)}\nexec2 {key(2)}\n"}


def test_a_key_comes_to_those_of_its_neighbours() -> None:
    edited = draft(keys__rack__exec=f"# rack 3\nexec1 {key(1)}\n", keys__servers=f"cm {key(9)}")
    accept_keys(edited, {"exec2": key(2)})
    assert texts(edited) == {"keys/rack/exec.txt": f"# rack 3\nexec1 {key(1)}\nexec2 {key(2)}\n"}


def test_without_neighbours_it_comes_into_the_only_file() -> None:
    edited = draft(keys__servers=f"cm {key(9)}")
    accept_keys(edited, {"exec2": key(2)})
    assert texts(edited) == {"keys/servers.txt": f"cm {key(9)}\nexec2 {key(2)}"}


def test_a_full_file_is_followed_by_another() -> None:
    full = f"exec1 {key(1)}\n" + "#" * (MAX_BYTES - 120)
    edited = draft(keys__nodes=full)
    accept_keys(edited, {"exec2": key(2), "exec3": key(3)})
    assert texts(edited) == {"keys/nodes-2.txt": f"exec2 {key(2)}\nexec3 {key(3)}\n"}
    assert not edited.model.keys.findings()  # type: ignore[attr-defined]
    assert set(edited.model.keys) == {"exec1", "exec2", "exec3"}


def test_a_key_that_is_there_already_changes_nothing() -> None:
    edited = draft(keys__nodes=f"exec1   {key(1)} remark\n")
    accept_keys(edited, {"exec1": key(1)})
    assert not edited.files


def test_another_key_replaces_only_when_that_is_asked_for() -> None:
    before = f"# a\nexec1\t{key(1)}  by hand\ncm {key(9)}\n"
    edited = draft(keys__nodes=before)
    with pytest.raises(GitcfgError) as raised:
        accept_keys(edited, {"exec1": key(2)})
    assert (raised.value.message, raised.value.code) == ("exec1 has another key already.", 4)
    accept_keys(edited, {"exec1": key(2)}, KnownKeys.REPLACE)
    assert texts(edited) == {"keys/nodes.txt": before.replace(key(1), key(2))}


def test_who_is_not_described_is_accepted_only_where_nodes_walk_in() -> None:
    with pytest.raises(GitcfgError) as raised:
        accept_keys(draft(), {"exec11": key(1)})
    assert raised.value.message == "There is no node exec11."
    open_to_all = Draft(DictTree({"gitcfg.yaml": "format: 1\nwalk_in: {groups: []}\n"}))
    accept_keys(open_to_all, {"exec11": key(1)})
    assert set(open_to_all.model.keys) == {"exec11"}


def test_who_has_no_key_cannot_be_forgotten() -> None:
    with pytest.raises(GitcfgError, match="The repository has no key of exec1"):
        forget_keys(draft(), ["exec1"])


LINES = st.sampled_from(["", "# remark", f"cm {key(99)}", f"  exec9 {key(98)}  x"])


@given(
    st.lists(LINES, unique=True),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sets(st.integers(0, 8), min_size=1),
)
def test_accepted_and_forgotten_again_leaves_the_same_bytes(
    lines: list[str], end: str, ended: bool, nodes: set[int]
) -> None:
    text = end.join(lines) + (end if ended else "")
    edited = draft(keys__nodes=text) if text else draft()
    before = dict(edited.model.keys)
    accept_keys(edited, {f"exec{number}": key(number) for number in nodes})
    assert {name: found.text for name, found in edited.model.keys.items()} == {
        **{name: found.text for name, found in before.items()},
        **{f"exec{number}": key(number) for number in nodes},
    }
    forget_keys(edited, [f"exec{number}" for number in nodes])
    assert not edited.files


def test_another_name_takes_the_key_along() -> None:
    edited = draft(keys__servers=f"# cm\ncm   {key(9)}  cm@cm\n")
    carry_out(edited, [Order(Action.RENAME, "node", "cm", to="cm1")])
    assert texts(edited)["keys/servers.txt"] == f"# cm\ncm1   {key(9)}  cm@cm\n"
