"""What commits are charged with: the gate beside a naive judge, which follows the words of the rule."""

from collections.abc import Iterator
from pathlib import Path

import pygit2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.gate.permits.changes import ChargeFinder
from gitcfg.gate.permits.judge import PushJudge
from gitcfg.gate.permits.rules import load_permits
from gitcfg.git.repository import Repository
from gitcfg.git.signatures import Signed
from gitcfg.git.tree import DictTree
from tests.gate.merges import CASES, MAY, Commit, History, history
from tests.gate.touches import MERGES, Files

ROOT = {"gitcfg.yaml": "format: 1\n"}
LAW = """\
rules:
  a: {allow: {by: [ann, cat], params: [A]}}
  b: {allow: {by: [ann], params: [B], nodes: [n1, n2]}}
"""
KEYS = ("A", "B", "n1", "n2")
ANY = "*"
"""A first commit brings settings, which are for any node."""
ALL = "rules: {r: {forbid: {by: ['*'], features: ['*'], params: ['*'], groups: ['*'], nodes: ['*']}}}"


class Desk:
    """A repository in which commits are made."""

    def __init__(self, folder: Path) -> None:
        self.git = pygit2.init_repository(str(folder), bare=True)
        self.repository = Repository.served(folder)

    def tree(self, files: dict[str, str]) -> pygit2.Oid:
        inner: dict[str, dict[str, str]] = {}
        builder = self.git.TreeBuilder()
        for path, text in files.items():
            name, _, rest = path.partition("/")
            if rest:
                inner.setdefault(name, {})[rest] = text
            else:
                builder.insert(name, self.git.create_blob(text.encode()), pygit2.enums.FileMode.BLOB)
        for name, more in inner.items():
            builder.insert(name, self.tree(more), pygit2.enums.FileMode.TREE)
        return builder.write()

    def commit(self, files: dict[str, str], parents: list[str], message: str) -> str:
        who = pygit2.Signature("n", "n@x.org", 1)
        ids = [pygit2.Oid(hex=parent) for parent in parents]
        return str(self.git.create_commit(None, who, who, message, self.tree(ROOT | files), ids))

    def history(self, commits: History) -> list[str]:
        ids: list[str] = []
        for number, commit in enumerate(commits):
            parents = [ids[parent] for parent in commit.parents]
            ids.append(self.commit(files(commit.says), parents, str(number)))
        return ids


def files(says: dict[str, str]) -> dict[str, str]:
    bound = ", ".join(f"{key}: {says[key]}" for key in ("A", "B") if key in says)
    members = ",".join(("n0", *(key for key in ("n1", "n2") if key in says)))
    return {"features/F.yaml": f"params: {{{bound}}}\n", "nodesets/s.yaml": f"nodes: '{members}'\n"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("charges"))


def judged(
    desk: Desk, commits: History, judge: list[int], ends: tuple[int | None, int]
) -> set[tuple[int, str]]:
    """What the gate refuses, by commit."""
    ids = desk.history(commits)
    signed = {id: Signed((commit.who,)) for id, commit in zip(ids, commits, strict=True)}
    law = load_permits(DictTree({**ROOT, "rules/r.yaml": LAW}))
    old = ids[ends[0]] if ends[0] is not None else None
    judging = PushJudge(law, desk.repository, lambda id: signed[id])
    found = judging.judge(tuple(ids[number] for number in judge), (old, ids[ends[1]]), None)
    return {
        (ids.index(id), name)
        for id, findings in found.items()
        for finding in findings
        for name in (finding.nodes or finding.subjects[:1])
    }


class Naive:
    """Judges as the rule is written: a commit is charged with each key whose value differs from any parent's,
    unless another parent vouches for it, whose own history since they parted has a commit, itself allowed,
    that set the key to just this value.
    """

    def __init__(self, commits: History, accepted: set[int]) -> None:
        self.commits = commits
        self.accepted = accepted

    def before(self, commit: int) -> set[int]:
        found = {commit}
        for parent in self.commits[commit].parents:
            found |= self.before(parent)
        return found

    def value(self, commit: int, key: str) -> str | None:
        return self.commits[commit].says.get(key)

    def charged(self, commit: int) -> set[str]:
        return self.of(self.commits[commit].parents, commit)

    def of(self, parents: tuple[int, ...], commit: int) -> set[str]:
        if not parents:
            return {ANY, *self.commits[commit].says}
        return {
            key
            for key in KEYS
            for parent in parents
            if self.value(commit, key) != self.value(parent, key)
            and not any(self.vouches(other, parent, commit, key) for other in parents if other != parent)
        }

    def vouches(self, other: int, parent: int, commit: int, key: str) -> bool:
        value = self.value(commit, key)
        own = self.before(other) - self.before(parent)
        return self.value(other, key) == value and any(
            key in self.charged(one) and self.value(one, key) == value and self.allowed(one) for one in own
        )

    def allowed(self, commit: int) -> bool:
        return commit in self.accepted or self.charged(commit) <= MAY[self.commits[commit].who]

    def refused(self, judge: list[int], ends: tuple[int | None, int]) -> Iterator[tuple[int, str]]:
        old, new = ends
        for commit in judge:
            for key in self.charged(commit) - MAY[self.commits[commit].who]:
                yield commit, key
        if old is not None and old not in self.before(new):
            for key in self.of((old, new), new) - MAY[self.commits[new].who]:
                yield new, key


@pytest.mark.parametrize("name", CASES)
def test_what_commits_are_charged_with(desk: Desk, name: str) -> None:
    text, expected = CASES[name]
    names, commits = history(text)
    judge = [number for number, commit in enumerate(commits) if not commit.accepted]
    charges = {
        (names[commit], key)
        for commit, *keys in map(str.split, filter(None, expected.split(", ")))
        for key in keys
    }
    naive = Naive(commits, {number for number, commit in enumerate(commits) if commit.accepted})
    assert set(naive.refused(judge, (None, len(commits) - 1))) == charges
    assert judged(desk, commits, judge, (None, len(commits) - 1)) == charges


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Many merges, and values that come and go and come again."""
    commits: list[Commit] = []
    for number in range(draw(st.integers(3, 9))):
        some = st.lists(st.integers(max(0, number - 5), number - 1), max_size=3, unique=True)
        parents = tuple(draw(some)) if number else ()
        says: dict[str, str] = {}
        for key in KEYS:
            taken = draw(st.sampled_from((*parents, *parents, None)))
            if taken is not None:
                value = commits[taken].says.get(key)
            else:
                value = draw(st.sampled_from((None, "1", "2") if key < "a" else (None, "in")))
            if value is not None:
                says[key] = value
        commits.append(Commit(draw(st.sampled_from(("ann", "ann", "cat", "bob"))), parents, says))
    return tuple(commits)


@settings(max_examples=60)
@given(histories(), st.data())
def test_the_gate_judges_histories_as_the_rule_is_written(
    desk: Desk, commits: History, data: st.DataObject
) -> None:
    old = data.draw(st.sampled_from((None, *range(len(commits) - 1))))
    new = len(commits) - 1
    naive = Naive(commits, set())
    naive.accepted = naive.before(old) if old is not None else set()
    judge = sorted(naive.before(new) - naive.accepted)
    assert judged(desk, commits, judge, (old, new)) == set(naive.refused(judge, (old, new)))


@pytest.mark.parametrize("name", MERGES)
def test_a_merge_answers_for_what_no_side_says(desk: Desk, name: str) -> None:
    one, other, merged, expected = MERGES[name]
    base = desk.commit({}, [], name)
    ends = [desk.commit(_texts(side), [base], name) for side in (one, other)]
    rules = load_permits(DictTree({**ROOT, "rules/r.yaml": ALL})).rules
    for parents in (ends, ends[::-1]):
        commit = desk.commit(_texts(merged), parents, name)
        charging = ChargeFinder(rules, desk.repository, frozenset(), lambda _: Signed())
        things = {thing for charge in charging.charges_of(commit).values() for thing in charge.touch.things()}
        assert " ".join(sorted(f"{kind}:{name}" for kind, name in things)) == expected


def _texts(files: Files) -> dict[str, str]:
    return {path: text for path, text in files.items() if isinstance(text, str)}


@pytest.mark.parametrize(("deepest", "refused"), [(50, False), (1, True)])
def test_where_too_many_merges_wait_for_each_other_none_vouches(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, deepest: int, refused: bool
) -> None:
    monkeypatch.setattr("gitcfg.gate.permits.changes._DEEPEST", deepest)
    names, commits = history(
        """
        old*   ann -          A=1
        new*   ann old        A=2
        newer* ann new        A=3
        one*   bob old,new    A=2
        two*   bob newer,one  A=2
        main*  bob newer,one  A=3
        merge  bob main,two   A=2
        """
    )
    merge = names["merge"]
    assert judged(desk, commits, [merge], (None, merge)) == ({(merge, "A")} if refused else set())
