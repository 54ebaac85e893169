"""States of gitcfg's cache: what it holds after some commands, made once and put back before each run."""

import hashlib
import shutil
from collections.abc import Sequence

from bench.fleet.lay import finish, fresh
from bench.measure import Command, Limits, run
from bench.rows.fleet import Prepared


def bring(ready: Prepared, commands: Sequence[Command]) -> None:
    """Make the cache what it is after these commands, run on an empty one. ValueError: one of them failed."""
    cache = ready.repository / ".git/gitcfg"
    shutil.rmtree(cache, ignore_errors=True)
    if not commands:
        return
    kept = ready.folder / "states" / _name(ready, commands)
    if fresh(kept, ready.mark):
        shutil.copytree(kept, cache)
        return
    failed = kept.with_suffix(".failed")
    if failed.exists():  # the rows that want this state do not all wait for it
        raise ValueError(failed.read_text())
    for command in commands:
        if complaint := _run(command, ready.limits):
            failed.write_text(complaint)
            raise ValueError(complaint)
    if cache.is_dir():
        shutil.copytree(cache, kept, dirs_exist_ok=True)
    finish(kept, ready.mark)


def forget(ready: Prepared) -> None:
    """Drop all states: another version of gitcfg would have left others."""
    shutil.rmtree(ready.folder / "states", ignore_errors=True)


def _name(ready: Prepared, commands: Sequence[Command]) -> str:
    said = repr([list(command.argv) for command in commands])
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _run(command: Command, limits: Limits) -> str:
    """What went wrong, if anything did."""
    used = run(command, limits)
    if used.late:
        return f"the state is not made within {limits.seconds:.0f} s"
    return f"the state is not made: {command.complaint[:80]}" if used.exit not in (0, 1) else ""
