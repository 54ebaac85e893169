"""Contents that are typed: twice, unseen, and nowhere in what others see of a process."""

import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.secretpool import CANARY, Pool
from tests.cli.terminals import Terminal

FIRST, AGAIN = "Content of pool, not shown: ", "Repeat the content: "


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path).begun()


@pytest.fixture
def typing(pool: Pool) -> Callable[..., Terminal]:
    def begin(*words: str, pager: str = "cat") -> Terminal:
        command = [sys.executable, "-m", "gitcfg", "-C", str(pool.root), "secret", *words]
        return Terminal(command, {**pool.environment, "TERM": "dumb", "PAGER": pager}, pool.home)

    return begin


def seen_of(process: int) -> bytes:
    """What everybody on a machine, or its owner, sees of a process."""
    return b"".join(Path(f"/proc/{process}/{name}").read_bytes() for name in ("cmdline", "environ"))


def test_it_is_typed_twice_and_not_shown(pool: Pool, typing: Callable[..., Terminal]) -> None:
    with typing("set", "pool") as terminal:
        for prompt in (FIRST, AGAIN):
            terminal.until(prompt)
            terminal.type(f"{CANARY}, typed\n")
            assert CANARY.encode() not in seen_of(terminal.process.pid)
        assert terminal.end() == 0
        assert CANARY not in terminal.seen
        assert "pool now has version 2." in terminal.seen
    assert pool.content() == f"{CANARY}, typed"
    assert pool.holding(CANARY) == []


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (("one\n", "other\n"), "The two entries differ, so nothing was changed."),
        (("\n", "\n"), "The secret is empty."),
        (("\x04",), "Nothing was typed."),
    ],
)
def test_what_is_typed_otherwise_changes_nothing(
    pool: Pool, typing: Callable[..., Terminal], keys: tuple[str, ...], said: str
) -> None:
    with typing("set", "pool") as terminal:
        for prompt, key in zip((FIRST, AGAIN), keys, strict=False):
            terminal.until(prompt)
            terminal.type(key)
        assert terminal.end() == 2
        assert said in terminal.seen
        assert "one" not in terminal.seen.partition("error:")[0]
    assert pool.content() == CANARY


def test_who_is_interrupted_has_a_terminal_that_shows_again(
    pool: Pool, typing: Callable[..., Terminal]
) -> None:
    with typing("set", "pool") as terminal:
        terminal.until(FIRST)
        assert not termios.tcgetattr(terminal.ours)[3] & termios.ECHO
        terminal.type("half\x03")
        assert terminal.end() == 130
        assert "half" not in terminal.seen
    assert pool.content() == CANARY


def test_nobody_is_asked_for_what_will_be_refused(pool: Pool, typing: Callable[..., Terminal]) -> None:
    with typing("set", "other") as terminal:
        assert terminal.end() == 2
        assert "The selection of nodes that may have other is missing" in terminal.seen
        assert "not shown" not in terminal.seen


def test_a_terminal_gets_the_end_of_the_line_and_no_pager(
    pool: Pool, typing: Callable[..., Terminal], tmp_path: Path
) -> None:
    pager = tmp_path / "pager"
    pager.write_text(f"#!/bin/sh\ncat > {tmp_path}/paged\n")
    pager.chmod(0o755)
    with typing("show", "pool", "--reveal", pager=str(pager)) as terminal:
        assert terminal.end() == 0
        assert terminal.seen == f"{CANARY}\n"
    assert not (tmp_path / "paged").exists()
