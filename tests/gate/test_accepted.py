"""What follows a push: notes are all kept, and the next push finds answers to what it asks."""

import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitcfg.cache import open_cache, open_read_only
from gitcfg.gate.gate import Gate
from gitcfg.gate.policy import load_administrator
from gitcfg.gate.push import AcceptedPush, Bypass, Update, pusher_name, render_note
from gitcfg.gate.rulings import NOTES
from gitcfg.git.history import History
from gitcfg.git.program import Git
from gitcfg.git.refs import append_note
from gitcfg.git.repository import Config, Repository
from gitcfg.output.branch import follow_ref, list_commits
from tests.compile.fleets import TODAY
from tests.output.rendered import ENVIRONMENT, REF, Pool, simple
from tests.work.counting import Work, counting

MAIN = "refs/heads/main"
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def test_an_ordinary_push_is_nothing_to_note() -> None:
    assert render_note(None, None, "jo") == render_note("", None, "jo") == ""


def test_a_note_has_a_line_for_each_thing() -> None:
    opened = Bypass(NOW, "it burns")
    assert render_note("one\n\ntwo", opened, "jo").splitlines() == [
        "reason: one",
        "reason: two",
        "bypass until 2026-11-22 12:00+00:00: it burns",
        "pushed by: jo",
    ]
    assert render_note("a\x1b]0;x\x07", None, None) == "reason: a\\x1b]0;x\\x07\n"


def test_the_pusher_is_who_the_server_names_first() -> None:
    assert pusher_name({"USER": "git", "GL_USERNAME": "jo", "REMOTE_USER": ""}) == "jo"
    assert pusher_name({"USER": "git", "GITEA_PUSHER_NAME": ""}) == "git"
    assert pusher_name({"USER": "git", "GL_USERNAME": "jo", "WHO": "ann"}, "WHO") == "ann"
    assert pusher_name({}) is None


def test_notes_of_many_at_once_are_all_kept(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [simple(a=f"t{number}") for number in range(12)])
    git = Git(pool.repository, ENVIRONMENT)
    writers = [
        threading.Thread(target=append_note, args=(git, NOTES, commit, f"reason: {commit}\n"))
        for commit in pool.commits
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    for commit in pool.commits:
        assert pool.git("notes", f"--ref={NOTES}", "show", commit) == f"reason: {commit}"


def judged(pool: Pool, old: int, new: int) -> Work:
    """What pre-receive does for a push from a version to another."""
    repository = Repository.served(pool.place)
    said = load_administrator(Config(repository))
    gate = Gate(repository, said, open_read_only(repository, os.geteuid()), NOW, today=TODAY)
    update = Update(MAIN, pool.commits[old], pool.commits[new])
    with counting() as work, gate.rulings((update,)) as rulings:
        for ruling in rulings:
            assert not ruling.refused
            assert ruling.changes is not None
            len(ruling.changes)
    return work


@pytest.mark.parametrize("ratchet", ["false", "true"])
def test_the_next_push_is_warm(tmp_path: Path, ratchet: str) -> None:
    gone = {path: text for path, text in simple(a="two").items() if path != "nodes/b1.yaml"}
    extra = {f"nodes/c{number}.yaml": "groups: [b]\n" for number in range(40)}
    pool = Pool(tmp_path, [simple() | extra, gone | extra, gone | extra | {"nodes/a2.yaml": "groups: [b]\n"}])
    pool.git("update-ref", MAIN, pool.commits[1])
    pool.git("symbolic-ref", "HEAD", MAIN)
    pool.git("config", "gitcfg.ratchet", ratchet)
    cold = judged(pool, 1, 2)
    repository = Repository.served(pool.place)
    for old, new in ((None, pool.commits[0]), pool.commits[:2]):
        accepted = AcceptedPush(repository, load_administrator(Config(repository)), (Update(MAIN, old, new),))
        accepted.fill_cache(open_cache(repository, os.geteuid()), TODAY)
    again, warm = judged(pool, 0, 1), judged(pool, 1, 2)
    assert again.total("looked at") == 0, "what was judged is known"
    assert len(cold["parsed"]) > len(extra)
    assert set(warm["parsed"]) == {"gitcfg.yaml", "nodes/a2.yaml"}, "all else is known, mentions too"
    assert warm.total("looked at") == 1


def test_what_protected_refs_leave_is_left_last(tmp_path: Path) -> None:
    other = {f"nodes/d{number}.yaml": "groups: [a]\n" for number in range(30)}
    pool = Pool(tmp_path, [simple(), simple(a="two"), simple() | other])
    pool.git("update-ref", MAIN, pool.commits[1])
    pool.git("update-ref", "refs/heads/side", pool.commits[2])
    pool.git("symbolic-ref", "HEAD", MAIN)
    repository = Repository.served(pool.place)
    for order in (1, -1):
        updates = (
            Update(MAIN, pool.commits[0], pool.commits[1]),
            Update("refs/heads/side", None, pool.commits[2]),
        )[::order]
        accepted = AcceptedPush(repository, load_administrator(Config(repository)), updates)
        assert [commit for commit, _ in accepted._tips()] == [pool.commits[2], pool.commits[1]]


def test_a_ref_is_followed_from_where_it_was(tmp_path: Path) -> None:
    wrong = simple() | {"nodes/b1.yaml": "groups: [b\n"}
    files = [simple(), simple(a="two"), wrong, {"README": "no configuration"}, simple(b="three")]
    pool = Pool(tmp_path, files)
    pool.git("update-ref", MAIN, pool.commits[4])
    pool.publish(0)
    outcomes = list(follow_ref(pool.publisher(), MAIN))
    assert [outcome.source for outcome in outcomes] == [pool.commits[n] for n in (1, 2, 4)]
    assert [outcome.commit is not None for outcome in outcomes] == [True, False, True]
    assert [outcome.commit for outcome in follow_ref(pool.publisher(), MAIN)] == [None]
    assert list(follow_ref(pool.publisher(), "refs/heads/none")) == []
    assert pool.shown() == pool.folder(4, tmp_path / "out")


def test_two_that_follow_at_once_make_one_commit_each(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [simple(a=f"t{number}") for number in range(6)])
    pool.git("update-ref", MAIN, pool.commits[5])
    pool.publish(0)
    here, there = (follow_ref(pool.publisher(), MAIN) for _ in range(2))
    found = [next(here), next(there), next(there), *here, *there]
    made = [outcome.source for outcome in found if outcome.commit is not None]
    assert sorted(made) == sorted(pool.commits[1:])
    sources = pool.git("log", "--format=%(trailers:key=Gitcfg-Source,valueonly,separator=%x2C)", REF).split()
    assert sources == pool.commits[::-1]


def test_a_chain_begins_after_what_is_known(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [simple(a=f"t{number}") for number in range(4)])
    history, (first, second, third, last) = History(pool.repository), pool.commits
    assert list_commits(history, last, first) == (second, third, last)
    assert list_commits(history, last, None) == list_commits(history, last, "0" * 40) == (last,)
    assert list_commits(history, first, last) == (first,)
    assert list_commits(history, last, last) == (last,)
