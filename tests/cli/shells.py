"""Real shells in terminals, in which gitcfg completes, and a gitcfg that records what it is called with."""

import os
import shlex
import shutil
import sys
import time
from pathlib import Path
from types import TracebackType

import pytest

from tests.cli.terminals import PATIENCE, Terminal, plain

COMMANDS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "-i"],
}
SOURCED = {
    "bash": 'PS1="rea""dy> "; eval "$(gitcfg completion bash)"',
    "zsh": 'autoload -Uz compinit; compinit -u -D; eval "$(gitcfg completion zsh)"; PS1="rea""dy> "',
    "fish": "function fish_prompt; echo -n 'rea''dy> '; end; gitcfg completion fish | source",
}
READY = "ready> "
_END_AND_DISCARD = "\x05\x15"

each = pytest.mark.parametrize(
    "shell",
    [
        pytest.param(
            name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"{name} is not installed")
        )
        for name in COMMANDS
    ],
)
"""For tests of every shell that is there."""


def environment(folder: Path) -> dict[str, str]:
    """What a shell has, with a gitcfg on its path that completes, and else writes its words to `called`."""
    program = folder / "bin" / "gitcfg"
    program.parent.mkdir(parents=True, exist_ok=True)
    real = shlex.quote(sys.executable)
    program.write_text(
        f'#!/bin/sh\ncase "$1" in --complete|completion) exec {real} -m gitcfg "$@";; esac\n'
        f'printf "%s\\n" "$@" > {folder}/writing && mv {folder}/writing {folder}/called\n'
    )
    program.chmod(0o755)
    (folder / "home").mkdir(exist_ok=True)
    return {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": ":".join(filter(None, sys.path)),
        "HOME": str(folder / "home"),
        "TERM": "xterm",
        "LANG": "C.UTF-8",
        "INPUTRC": "/dev/null",
    }


class Shell:
    """An interactive shell; `folder` is where its gitcfg records."""

    def __init__(self, name: str, folder: Path, place: Path, begun: str = "") -> None:
        self.folder = folder
        self.terminal = Terminal(COMMANDS[name], environment(folder), place, rows=200)
        self.terminal.type((begun or SOURCED[name]) + "\r")
        self.terminal.until(READY)

    def __enter__(self) -> "Shell":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.terminal.__exit__(kind, error, trace)

    def called(self, typed: str) -> list[str]:
        """The words that gitcfg gets after this was typed, with tabs, and sent off."""
        since = len(self.terminal.seen)
        record = self.folder / "called"
        self.terminal.type(f"{typed}\r")
        end = time.monotonic() + PATIENCE
        while not record.exists():
            assert time.monotonic() < end, f"{typed!r} never ran:\n{self.terminal.seen[since:]}"
            self.terminal.read()
        words = record.read_text().removesuffix("\n").split("\n")
        record.unlink()
        self.terminal.until(rf"(?s)\n.*{READY}", since)
        return words

    def listed(self, typed: str, pattern: str) -> str:
        """What is shown after this was typed, until it matches; then the line is given up."""
        since = len(self.terminal.seen)
        self.terminal.type(typed)
        self.terminal.until(pattern, since)
        shown = self.terminal.seen[since:]
        self.given_up("")
        return plain(shown)

    def given_up(self, typed: str) -> None:
        """Type a line, and take it back."""
        assert self.called(f"{typed}{_END_AND_DISCARD}gitcfg --version") == ["--version"]
