"""What became of nodes of which a deploy had not heard the end: the next visit tells, and is written down."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from gitcfg.deploy.messages import Hello
from gitcfg.deploy.record import append
from gitcfg.deploy.record_files import found_in, ids, place
from gitcfg.deploy.record_lines import Kept, NodeDone, Run
from gitcfg.deploy.record_open import content
from gitcfg.install import outcome as installed
from gitcfg.model import GitcfgError

_UNHEARD = ("lost", "timeout")
_MARKS = tuple(f'"outcome":"{word}"'.encode() for word in _UNHEARD)
_CAME_TO = (*_UNHEARD, "ok", "unchanged", "reverted", "failed", "full", "busy")
"""After these the node may have been touched, or it was there that somebody else was at it."""
_TAKEN_BACK = "The installation was interrupted; the next deploy takes it back."


class Later:
    """Hears what stands on nodes, `names`; `folder` is where runs are kept, `clock` says the time."""

    def __init__(self, folder: Path, names: Iterable[str], clock: Callable[[], float]) -> None:
        self._folder, self._names, self._clock = folder, frozenset(names), clock

    def heard(self, node: str, hello: Hello, dry: bool) -> None:
        """Write down what became of a node, where nobody knew. If that fails: this run says it, too."""
        with contextlib.suppress(OSError, GitcfgError):
            if node in self._unheard:
                run, lost = self._unheard[node]
                done = became(run, lost, hello, dry)
                if done is not None:
                    append(self._folder, run.id, replace(done, at=self._clock()))

    @cached_property
    def _unheard(self) -> dict[str, tuple[Run, NodeDone]]:
        """By node, the last run in which anything may have been done to it, if its end was not heard."""
        left, found = set(self._names), dict[str, tuple[Run, NodeDone]]()
        for kept in _runs(self._folder):
            for name in left & kept.done.keys():
                done = kept.done[name]
                if done.outcome in _CAME_TO or done.step:
                    left.discard(name)
                    if done.outcome in _UNHEARD and done.commit is None and not kept.going:
                        found[name] = (kept.run, done)
        return found


def _runs(folder: Path) -> Iterator[Kept]:
    """Newest first, down to the oldest that has not heard of some node: mostly there is none to decode."""
    known = ids(folder)
    has = [number for number, run in enumerate(known) if _misses_some(place(folder, run))]
    found = (found_in(folder, run).kept for run in known[: max(has, default=-1) + 1])
    return (kept for kept in found if kept is not None)


def _misses_some(file: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        raw, _ = content(file)
        return any(mark in raw for mark in _MARKS)
    return False


def became(run: Run, lost: NodeDone, hello: Hello, dry: bool) -> NodeDone | None:
    """What a node came to in a run, by what it says now; None: that is of something else, or not over."""
    if hello.busy or hello.problem:
        return None
    report = hello.report
    if hello.interrupted:
        if dry:
            return None
        word = installed.OK if hello.commit == run.commit else installed.REVERTED
        report = installed.Outcome(word, run.commit, "", step="" if word == installed.OK else "interrupted")
        report = report._replace(output="" if word == installed.OK else _TAKEN_BACK)
    if report is None or report.commit != run.commit:
        return None
    known = report.result != installed.FAILED
    said = f"Its end was not heard then ({lost.outcome}), and by the next visit: {report.result}."
    return NodeDone(
        lost.node,
        report.result,
        report.step,
        "\n".join(filter(None, (said, report.output))),
        lost.seconds,
        len(report.changed) + len(report.removed),
        hello.commit if known else None,
        hello.digest if known else None,
        lost.agent,
    )
