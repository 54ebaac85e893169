"""Verdicts that a cache keeps from one run to the next."""

import pytest

from gitcfg.check.target_parsers import Verdict
from gitcfg.parsers import verdicts
from gitcfg.parsers.verdicts import CachedVerdicts
from tests.load.keeping import Dictionary

CLEAN: tuple[Verdict, ...] = ()
WRONG = (Verdict("is wrong", 3, ("P", "Q"), "Change it.", grave=False),)


def test_the_next_run_has_them() -> None:
    cache = Dictionary()
    CachedVerdicts(cache).put({b"a": CLEAN, b"b": WRONG})
    again = CachedVerdicts(cache)
    assert again.get([b"a", b"b", b"c"]) == {b"a": CLEAN, b"b": WRONG}
    again.put({b"c": CLEAN})
    assert CachedVerdicts(cache).get([b"c", b"b"]) == {b"b": WRONG, b"c": CLEAN}


def test_the_oldest_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "MOST", 2)
    cache = Dictionary()
    kept = CachedVerdicts(cache)
    kept.put({b"a": CLEAN, b"b": CLEAN})
    kept.put({b"a": WRONG, b"c": CLEAN})
    assert CachedVerdicts(cache).get([b"a", b"b", b"c"]) == {b"a": WRONG, b"c": CLEAN}
