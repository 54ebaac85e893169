"""What a change touches, as its cases say; laws that hold for all of them."""

import pytest

from gitcfg.gate.permits.changes import Touches, find_touched
from gitcfg.git.tree import DictTree
from tests.gate.touches import CASES, Files

ROOT: Files = {"gitcfg.yaml": "format: 1\n"}


def tree(files: Files) -> DictTree:
    return DictTree({**ROOT, **files})


def things(change: Touches) -> str:
    return " ".join(sorted({f"{kind}:{name}" for touch in change.values() for kind, name in touch.things()}))


@pytest.mark.parametrize("name", CASES)
def test_a_change_touches_what_it_means(name: str) -> None:
    old, new, expected = CASES[name]
    assert things(find_touched(tree(old), tree(new))) == expected


@pytest.mark.parametrize("name", CASES)
def test_taking_a_change_back_touches_the_same(name: str) -> None:
    old, new, expected = CASES[name]
    assert things(find_touched(tree(new), tree(old))) == expected


@pytest.mark.parametrize("name", CASES)
def test_what_is_touched_stands_where_it_is_told(name: str) -> None:
    old, new, _ = CASES[name]
    files = {**ROOT, **old, **new}
    for touch in find_touched(tree(old), tree(new)).values():
        text = files[touch.origin.file]
        assert isinstance(text, str)
        assert touch.origin.line <= len(text.splitlines())


@pytest.mark.parametrize("name", CASES)
def test_a_first_commit_touches_all_of_it(name: str) -> None:
    _, new, _ = CASES[name]
    assert find_touched(None, tree(new)).keys() >= find_touched(tree({}), tree(new)).keys()


def test_without_settings_all_is_gone_and_with_them_all_is_back() -> None:
    """Else what changed between the two would be nobody's."""
    files: Files = {"groups/g.yaml": "params: {P: 1}\n"}
    there, gone = tree(files), DictTree(files)
    expected = "groups:default groups:g nodes:* params:P rules:gitcfg.yaml"
    assert things(find_touched(there, gone)) == things(find_touched(gone, there)) == expected


def test_a_set_of_millions_is_any_node() -> None:
    files: Files = {"nodesets/s.yaml": "nodes: n[0000001-0200000]\nparams: {P: 1}\n"}
    assert things(find_touched(tree({}), tree(files))) == "nodes:* params:P"
