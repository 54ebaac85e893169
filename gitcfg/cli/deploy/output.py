"""The output of a deploy: lines and the record during the run, and at its end the outcomes of its nodes."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.deploy.batches import INTERRUPTED
from gitcfg.deploy.outcomes import WELL, EndReason, Outcome, Result, group_by_outcome
from gitcfg.deploy.records import NodeDone, Recorder
from gitcfg.model.text import ABBREVIATED, counted, safe
from gitcfg.nodeset import IN_JSON, abridged

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.deploy.run import Listener

_STYLES = {
    Outcome.OK: "green",
    Outcome.UNCHANGED: "green",
    Outcome.DIFFERS: "yellow",
    Outcome.REFUSED: "yellow",
    Outcome.SKIPPED: "yellow",
}
_DIFF = {"+": "green", "-": "red", "@": "cyan"}
_OUTPUT_LINES = 10
_GONE = "The reader of the JSON lines is gone."
_WRITTEN = "Cannot write the JSON lines: {}."
_PROCESS = re.compile(r"(?i)(\b(?:pid|process)[ =:]{1,2})[0-9]+|(?<=\w)\[[0-9]+\]")
_ADDRESS = re.compile(
    r"(?<![\w.:])(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?!\w|\.\w)"
    r"|(?=[0-9a-f:]*::|(?:[0-9a-f]{1,4}:){7})[0-9a-f:]{3,39}(?![\w:]))"
)
_ALONE = r"(?<![\w.-]){}(?![\w-]|\.\w)"
_WITHIN = r"(?<![^\W_]){}(?![^\W_])"
_DISTINCT = re.compile(r"(?=.*[^\W\d_])(?=.*[0-9]|...)")
"""Names that mean the node even within a word (`poold-n1`), unlike `7` in `1.7` or `in` in `log-in`."""
Line = tuple[str, str]
"""A text, and its style."""


class DeployHead(msgspec.Struct, frozen=True):
    """The facts of a deploy: its run's id (none if nothing is recorded), its commit, when it began."""

    run: str | None
    commit: str
    reason: str
    dry: bool
    begun: float


class DeployEnd(msgspec.Struct, frozen=True):
    """The end of a deploy, and its duration in seconds."""

    why: EndReason
    because: str
    seconds: float


def node_to_json(about: DeployHead, result: Result) -> dict[str, Any]:
    """Return a node's record, `gitcfg.deployed/1`."""
    return {
        "schema": "gitcfg.deployed/1",
        "run": about.run,
        "target": about.commit,
        "dry": about.dry,
        **msgspec.to_builtins(result),
    }


def deploy_to_json(about: DeployHead, ending: DeployEnd, results: Mapping[str, Result]) -> dict[str, Any]:
    """Return the record of the whole deploy, `gitcfg.deploy/1`."""
    counts = {outcome.value: len(some) for outcome, some in group_by_outcome(results.values()).items()}
    return {
        "schema": "gitcfg.deploy/1",
        "run": about.run,
        "target": about.commit,
        "reason": about.reason,
        "dry": about.dry,
        "begun": about.begun,
        "seconds": round(ending.seconds, 3),
        "ended": ending.why.value,
        "because": ending.because,
        "counts": counts,
        "nodes": [msgspec.to_builtins(results[name]) for name in sorted(results)],
    }


def print_results(console: "Console", results: Mapping[str, Result], dry: bool) -> None:
    """Print each node once: by outcome, and nodes with the same lines together."""
    from rich.text import Text

    for outcome, some in group_by_outcome(results.values()).items():
        messages = ((result.node, tuple(_lines(result, dry))) for result in some)
        # Planned changes are shown in full, because people decide by them.
        for lines, names in fold_messages(messages, trouble=outcome not in WELL):
            head = Text(outcome.value, outcome_style(outcome))
            head.append(f" {counted(len(names), 'node')}: ", "not bold default")
            console.print(head.append(abridged(names, IN_JSON), "bold"))
            for line, look in lines:
                console.print(Text(f"  {line}" if line else "", look))


def _lines(result: Result, dry: bool) -> "Iterator[Line]":
    """Yield the lines below a node's outcome."""
    if result.message:
        yield safe(result.message), ""
    if result.output:  # of a successful node: what was fixed, or the outcome of an earlier installation
        lines = [line for line in result.output.splitlines() if line.strip()]
        if len(lines) > _OUTPUT_LINES:  # the JSON and the record have all of it
            yield f"  ... {counted(len(lines) - _OUTPUT_LINES, 'line')} earlier", "dim"
        yield from ((f"  {safe(line)}", "dim") for line in lines[-_OUTPUT_LINES:])
    if result.hint:
        yield f"hint: {safe(result.hint)}", "cyan"
    if result.outcome in WELL and (done := describe_work(result)):
        yield f"{'would be: ' if dry else ''}{done}", ""
    for path, text in sorted(result.differences.items()):
        yield safe(path), "bold"
        yield from ((safe(line), _DIFF.get(line[:1], "")) for line in text.splitlines())


def describe_work(result: Result) -> str:
    """Return what was done on a node, in a few words."""
    files = (("written", result.changed), ("removed", result.removed))
    subsystems = (("restarted", result.restarted), ("reloaded", result.reloaded), ("stopped", result.stopped))
    done = [f"{counted(len(paths), 'file')} {word}" for word, paths in files if paths]
    done += [f"{word} {', '.join(map(safe, names))}" for word, names in subsystems if names]
    return "; ".join(done)


def outcome_style(outcome: Outcome) -> str:
    """Return the color of an outcome."""
    return _STYLES.get(outcome, "red")


def format_summary(about: DeployHead, ending: DeployEnd, results: Mapping[str, Result]) -> str:
    """Return the result of a deploy, in one sentence or two."""
    groups = group_by_outcome(results.values())
    counts = ", ".join(f"{len(some)} {outcome}" for outcome, some in groups.items())
    because = f" {safe(ending.because)}" if ending.why is not EndReason.DONE else ""
    commit = f"Commit {about.commit[:ABBREVIATED]}, {ending.seconds:.1f} s."
    return f"{counted(len(results), 'node')}: {counts or 'nothing to do'}.{because} {commit}"


def generalize(text: str, node: str) -> str:
    """Return a text about a node in a form that is equal for others: with NODE, PROCESS and ADDRESS."""
    text = _PROCESS.sub(lambda found: f"{found[1]}PROCESS" if found[1] else "[PROCESS]", text)
    text = _ADDRESS.sub("ADDRESS", text)
    for name in (node, node.partition(".")[0]):
        if name and name in text:
            form = _WITHIN if _DISTINCT.match(name) else _ALONE
            text = re.sub(form.format(re.escape(name)), "NODE", text)
    return text


def fold_messages(
    messages: Iterable[tuple[str, tuple[Line, ...]]], *, trouble: bool
) -> list[tuple[tuple[Line, ...], list[str]]]:
    """Group nodes that have the same message, in order of the first of each.

    For failures, parts that are specific to a node are ignored; they are shown if they are equal on all
    nodes.
    """
    found: dict[tuple[Line, ...], tuple[list[str], set[tuple[Line, ...]]]] = {}
    for name, lines in messages:
        key = tuple((generalize(text, name), look) for text, look in lines) if trouble else lines
        names, own = found.setdefault(key, ([], set()))
        names.append(name)
        if len(own) < 2:
            own.add(lines)
    return [(own.pop() if len(own) == 1 else key, names) for key, (names, own) in found.items()]


class SilentListener:
    """Listener that ignores all events."""

    def began(self, node: str, batch: int) -> None:
        """A node begins."""

    def step(self, node: str, step: str, detail: str) -> None:
        """A step begins on a node."""

    def ended(self, result: Result) -> None:
        """A node has ended."""

    def stopping(self, because: str) -> None:
        """No further node begins."""

    def tick(self) -> None:
        """Some time has passed."""


class StopNotes(SilentListener):
    """Listener that prints that no further node begins, if a program reads the outcomes of nodes."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def stopping(self, because: str) -> None:
        with suppress(OSError):  # a closed output does not stop a deploy
            self._say(format_stop(because))


def format_stop(because: str) -> str:
    """Return why no further node begins, and what happens to those at work."""
    hint = " Ctrl-C again abandons them." if because == INTERRUPTED else ""
    return f"{because} No other node starts; running ones finish.{hint}"


class Listeners(SilentListener):
    """Listener that passes events to several listeners, in their order."""

    def __init__(self, listeners: "Sequence[Listener]") -> None:
        self._listeners = listeners

    def began(self, node: str, batch: int) -> None:
        for one in self._listeners:
            one.began(node, batch)

    def step(self, node: str, step: str, detail: str) -> None:
        for one in self._listeners:
            one.step(node, step, detail)

    def ended(self, result: Result) -> None:
        for one in self._listeners:
            one.ended(result)

    def stopping(self, because: str) -> None:
        for one in self._listeners:
            one.stopping(because)

    def tick(self) -> None:
        for one in self._listeners:
            one.tick()


class RunRecorder(SilentListener):
    """Listener that records the outcome of each node, at once."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def ended(self, result: Result) -> None:
        self._recorder.node(
            NodeDone(
                result.node,
                result.outcome.value,
                result.step,
                "\n".join(filter(None, (result.message, result.output))),
                result.seconds,
                len(result.changed) + len(result.removed),
                result.commit,
                result.digest,
                result.agent,
            )
        )


class JsonLines(SilentListener):
    """Listener that writes a line of JSON for each node as it ends, unless `about` is None.

    The output may be closed, or a disk full: then `fault` is set and `left` called once, so that no further
    node begins and those at work finish.
    """

    def __init__(self, about: DeployHead | None) -> None:
        self._about = about
        self.fault: OSError | None = None
        self.left: Callable[[str], None] = lambda because: None

    def ended(self, result: Result) -> None:
        if self._about is None or self.fault is not None:
            return
        try:
            sys.stdout.buffer.write(msgspec.json.encode(node_to_json(self._about, result)) + b"\n")
            sys.stdout.flush()
        except OSError as error:
            self.fault = error
            self.left(_GONE if isinstance(error, BrokenPipeError) else _WRITTEN.format(error.strerror))
