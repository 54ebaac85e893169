"""Packages in parts, on whatever they may hold: put together they are what they were."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.install.package import file_digest, package_to_json
from gitcfg.install.remote.protocol import join_package, list_contents, short_ids, split_package, whole_sum
from tests.install.world import made_file, package, secret_file

CONTENT = st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode))
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def packages(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, bytes]]:
    files: dict[str, Any] = {}
    hidden: dict[str, bytes] = {}
    for path in draw(st.lists(st.text(max_size=10), max_size=5, unique=True)):
        content = draw(st.text(max_size=20))
        mode = draw(st.sampled_from(["0644", "0600"]))
        files[path] = {
            "content": content,
            "mode": mode,
            "owner": "root",
            "group": "root",
            "digest": file_digest(mode, "root", "root", content.encode()),
            "concerns": draw(st.dictionaries(st.text(max_size=5), st.just("reload"), max_size=2)),
        }
        if draw(st.booleans()):
            files[path]["sealed"] = None
            hidden[path] = draw(CONTENT)
    package = {"schema": "gitcfg.node/1", "node": "n1", "params": draw(st.dictionaries(st.text(), PLAIN))}
    return {**package, "subsystems": draw(st.dictionaries(st.text(), PLAIN)), "files": files}, hidden


@given(packages())
def test_a_package_is_put_together_as_it_was(drawn: tuple[dict[str, Any], dict[str, bytes]]) -> None:
    package, hidden = drawn
    parts = split_package(package, hidden)
    again = join_package(parts.head, parts.pieces, parts.contents)
    known = {path: file.pop("hidden") for path, file in again["files"].items() if "hidden" in file}
    assert again == package
    assert known.keys() == hidden.keys()
    assert {path: one["size"] for path, one in known.items()} == {
        path: len(content) for path, content in hidden.items()
    }
    wanted = list_contents(parts.pieces)
    assert {one.sha256 for one in wanted} == parts.contents.keys()
    assert all(len(parts.contents[one.sha256]) == one.size for one in wanted)


@given(packages(), st.data())
def test_what_differs_has_other_ids(
    drawn: tuple[dict[str, Any], dict[str, bytes]], data: st.DataObject
) -> None:
    package, hidden = drawn
    if not package["files"]:
        return
    other = copy.deepcopy(package)
    path = data.draw(st.sampled_from(sorted(package["files"])))
    other["files"][path]["content"] += "x"
    one, two = split_package(package, hidden).pieces, split_package(other, hidden).pieces
    assert whole_sum(one) != whole_sum(two)
    assert sum(a != b for a, b in zip(short_ids(one), short_ids(two), strict=True)) == 1


def test_two_ends_take_a_package_apart_alike() -> None:
    """Whatever is in force is known by its parts, files that hold secrets too."""
    secret = secret_file("/etc/app/s", "canary\n")
    files = {"/etc/app/a": "one\n", "/etc/b": made_file("/etc/b", b"\xff\0"), "/etc/app/s": secret}
    new = package(files, params={"B": 1, "A": [1.5, None, "ä"]})
    said = package_to_json(new)
    near = split_package(
        {**said, "files": dict(reversed(said["files"].items()))}, {"/etc/app/s": b"canary\n"}
    )
    assert near.pieces == split_package(said, {}).pieces
    assert [one.secret for one in list_contents(near.pieces)].count(True) == 1
    assert b"canary" not in b"".join(near.pieces)
    assert join_package(near.head, near.pieces, near.contents) == said
