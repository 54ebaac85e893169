"""Whom a change may concern where there are rules."""

import pytest

from gitcfg.compile.concerned import Version, concerned
from gitcfg.compile.mentions import Mentions
from gitcfg.git.tree import DictTree
from gitcfg.load.repository import load

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "features/base.yaml": "{}",
    "features/web.yaml": "include: [base]",
    "features/other.yaml": "{}",
    "nodes/a.yaml": "{}",
    "nodes/b.yaml": "{}",
    "rules/r.yaml": "rules:\n  web: {install: web}\n",
}


def version(files: dict[str, str]) -> Version:
    tree = DictTree(files)
    return Version(tree, load(tree), lambda: Mentions({}, {}, {}))


@pytest.mark.usefixtures("ruled")
@pytest.mark.parametrize(
    ("path", "text", "nodes"),
    [
        ("rules/r.yaml", "rules: {}\n", None),
        ("allocations/web.yaml", "install: []\n", None),
        ("features/web.yaml", "description: x", None),
        ("features/base.yaml", "description: x", None),
        ("features/other.yaml", "description: x", frozenset()),
        ("nodes/a.yaml", "labels: [x]", frozenset({"a"})),
    ],
)
def test_what_rules_may_do_with_a_change_concerns_all(
    path: str, text: str, nodes: frozenset[str] | None
) -> None:
    assert concerned(version(FILES), version({**FILES, path: text})) == nodes
