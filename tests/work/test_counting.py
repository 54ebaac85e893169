"""Guards fail where more is done than need be: each is shown code that was broken so."""

import pytest
from msgspec.structs import replace

from gitcfg.load.cache import Packs
from gitcfg.load.collections import LazyDefinitions
from gitcfg.model import Node
from tests.work.counting import KINDS, counting
from tests.work.guards import (
    CHANGED,
    CHECK,
    PARAMS,
    a_node,
    each_thing_once,
    members,
    nothing_but_folders,
    only_concerned,
    only_one_node,
    only_these_are_hashed,
    only_what_changed,
    other,
    spliced_only,
)
from tests.work.pools import Pool


def test_all_kinds_of_work_are_seen(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that is called by another name, or no more, would be counted as no work."""
    name, param = a_node(pool)
    seen = set(pool.cold("check", "-o", "json").told())
    pool.say(CHANGED, other(pool))
    out = str(pool.folder.parent / "out")
    for words in (("check",), ("render", "--all", "--out", out), ("explain", name, param, "--at", "HEAD")):
        seen.update(pool.run(*words).told())
    assert seen == KINDS


def test_nothing_is_counted_afterwards(committed: Pool) -> None:
    with counting() as work:
        pass
    committed.cold(*CHECK)
    assert work.told() == {}


def test_a_guard_sees_what_is_parsed_twice(committed: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: LazyDefinitions[Node], name: str) -> Node:
        return self._read(name, self.listing.entries[name])

    monkeypatch.setattr(LazyDefinitions, "__getitem__", forgetful)
    work = committed.cold(*CHECK)
    with pytest.raises(AssertionError):
        each_thing_once(committed, committed.fleet, work)


def test_a_guard_sees_that_all_are_compiled_for_one(committed: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _ = a_node(committed)
    monkeypatch.setattr("gitcfg.library.Fleet.alone", lambda self, names: self)
    with pytest.raises(AssertionError):
        only_one_node(committed, ("render", name, "--at", "HEAD"), name)


def test_a_guard_sees_that_all_are_compared(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    old = pool.fleet
    pool.say(CHANGED, other(pool))
    pool.commit()
    monkeypatch.setattr("gitcfg.library._concerned", lambda old, new: None)
    work = pool.run("diff", "HEAD~1", "HEAD", "--stat")
    with pytest.raises(AssertionError):
        only_concerned(work, old, pool.fleet, members(pool.fleet, "group005"))


@pytest.mark.parametrize("broken", ["packs", "recheck"])
def test_a_guard_sees_what_is_found_out_again(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    if broken == "packs":
        of = Packs.of
        monkeypatch.setattr(Packs, "of", lambda self, *words: of(replace(self, keeper=None), *words))
    else:
        monkeypatch.setattr("gitcfg.check.incremental.recheck", lambda *words: None)
    pool.cold(*CHECK)
    pool.say(CHANGED, other(pool))
    work = pool.run(*CHECK)
    with pytest.raises(AssertionError):
        only_what_changed(work, pool.fleet, CHANGED, members(pool.fleet, "group005"))


def test_a_guard_sees_answers_that_are_not_kept(committed: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitcfg.cache.FolderCache.put", lambda self, asked, answer: None)
    committed.forget()
    with pytest.raises(AssertionError):
        nothing_but_folders(committed.warm(*CHECK))


def test_a_guard_sees_that_clean_files_are_hashed(committed: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitcfg.git.worktree.WorkTree.unchanged", lambda self, place: None)
    with pytest.raises(AssertionError):
        only_these_are_hashed(committed, committed.warm(*CHECK), [])


def test_a_guard_sees_values_that_are_composed(committed: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    committed.cold(*CHECK)
    values = "gitcfg.compile.node_class.Splicer.pieces"
    monkeypatch.setattr(values, lambda self, kind, *more: "".join(map(str, kind.params.items())))
    with pytest.raises(AssertionError):
        spliced_only(committed, committed.run(*PARAMS))
