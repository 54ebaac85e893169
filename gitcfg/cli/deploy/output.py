"""What became of the nodes of a deploy, for people and as `gitcfg.deploy/1`."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.deploy.outcomes import WELL, Outcome, Result, Why, group_by_outcome
from gitcfg.model.text import ABBREVIATED, counted, safe
from gitcfg.nodeset import IN_JSON, abridged

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.cli.messages import Line

_STYLES = {
    Outcome.OK: "green",
    Outcome.UNCHANGED: "green",
    Outcome.DIFFERS: "yellow",
    Outcome.REFUSED: "yellow",
    Outcome.SKIPPED: "yellow",
}
_DIFF = {"+": "green", "-": "red", "@": "cyan"}
_OUTPUT_LINES = 10


class DeployHead(msgspec.Struct, frozen=True):
    """What a deploy is: its run's id (none where nothing is recorded), its commit, when it began."""

    run: str | None
    commit: str
    reason: str
    dry: bool
    begun: float


class DeployEnd(msgspec.Struct, frozen=True):
    """How it ended, and after how many seconds."""

    why: Why
    because: str
    seconds: float


def node_to_json(about: DeployHead, result: Result) -> dict[str, Any]:
    """Return a node's own record, `gitcfg.deployed/1`."""
    return {
        "schema": "gitcfg.deployed/1",
        "run": about.run,
        "target": about.commit,
        "dry": about.dry,
        **_result_to_json(result),
    }


def deploy_to_json(about: DeployHead, ending: DeployEnd, results: Mapping[str, Result]) -> dict[str, Any]:
    """Return the record of the whole, `gitcfg.deploy/1`."""
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
        "nodes": [_result_to_json(results[name]) for name in sorted(results)],
    }


def _result_to_json(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(result)
    return found


def print_results(console: "Console", results: Mapping[str, Result], dry: bool) -> None:
    """Print each node once: by outcome, and together if the same lines follow."""
    from rich.text import Text

    from gitcfg.cli.messages import fold_messages

    for outcome, some in group_by_outcome(results.values()).items():
        said = ((result.node, tuple(_lines(result, dry))) for result in some)
        # What would change is shown in full: it is what people decide by.
        for lines, names in fold_messages(said, trouble=outcome not in WELL):
            head = Text(outcome.value, outcome_style(outcome))
            head.append(f" {counted(len(names), 'node')}: ", "not bold default")
            console.print(head.append(abridged(names, IN_JSON), "bold"))
            for line, look in lines:
                console.print(Text(f"  {line}" if line else "", look))


def _lines(result: Result, dry: bool) -> "Iterator[Line]":
    """Yield the lines below a node's outcome."""
    if result.message:
        yield safe(result.message), ""
    if result.output:  # of a node that is well: what was mended, or what became of an earlier installation
        yield from _output(result)
    if result.hint:
        yield f"hint: {safe(result.hint)}", "cyan"
    if result.outcome in WELL and (done := describe_work(result)):
        yield f"{'would be: ' if dry else ''}{done}", ""
    for path, text in sorted(result.differences.items()):
        yield safe(path), "bold"
        yield from ((safe(line), _DIFF.get(line[:1], "")) for line in text.splitlines())


def _output(result: Result) -> "Iterator[Line]":
    """Yield the end of its output; all of it is in the JSON and in the record."""
    lines = [line for line in result.output.splitlines() if line.strip()]
    if len(lines) > _OUTPUT_LINES:
        yield f"  ... {counted(len(lines) - _OUTPUT_LINES, 'line')} before", "dim"
    yield from ((f"  {safe(line)}", "dim") for line in lines[-_OUTPUT_LINES:])


def describe_work(result: Result) -> str:
    """Say what was done on a node, in a few words."""
    done = [
        f"{counted(len(some), 'file')} {word}"
        for word, some in (("written", result.changed), ("removed", result.removed))
        if some
    ]
    done += [
        f"{word} {', '.join(map(safe, names))}"
        for word, names in (
            ("restarted", result.restarted),
            ("reloaded", result.reloaded),
            ("stopped", result.stopped),
        )
        if names
    ]
    return "; ".join(done)


def outcome_style(outcome: Outcome) -> str:
    """Return the colour of an outcome."""
    return _STYLES.get(outcome, "red")


def format_summary(about: DeployHead, ending: DeployEnd, results: Mapping[str, Result]) -> str:
    """Say how it went, in one sentence or two."""
    groups = group_by_outcome(results.values())
    counts = ", ".join(f"{len(some)} {outcome}" for outcome, some in groups.items())
    said = f"{counted(len(results), 'node')}: {counts or 'nothing to do'}."
    which = f" Commit {about.commit[:ABBREVIATED]}, {ending.seconds:.1f} s."
    because = f" {safe(ending.because)}" if ending.why is not Why.DONE else ""
    return f"{said}{because}{which}"
