"""A deploy for eyes: what became of the nodes, folded by outcome, each node named once."""

from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.text import Text

from gitcfg.cli.alike import Line, folded
from gitcfg.cli.deploying.records import About, Ending
from gitcfg.deploy.outcomes import WELL, Outcome, Result, tallied
from gitcfg.deploy.turns import Why
from gitcfg.model.nodeset import IN_JSON, abridged
from gitcfg.model.text import ABBREVIATED, counted, safe

_STYLES = {
    Outcome.OK: "green",
    Outcome.UNCHANGED: "green",
    Outcome.DIFFERS: "yellow",
    Outcome.REFUSED: "yellow",
    Outcome.SKIPPED: "yellow",
}
_DIFF = {"+": "green", "-": "red", "@": "cyan"}
_LINES = 10


def tell(console: Console, results: Mapping[str, Result], dry: bool) -> None:
    """Every node once: by outcome, and those of which the same is to be said together."""
    for outcome, some in tallied(results.values()).items():
        said = ((result.node, tuple(_lines(result, dry))) for result in some)
        # What would change is told as it is: somebody decides by it.
        for lines, names in folded(said, trouble=outcome not in WELL):
            head = Text(outcome.value, style(outcome))
            head.append(f" {counted(len(names), 'node')}: ", "not bold default")
            console.print(head.append(abridged(names, IN_JSON), "bold"))
            for line, look in lines:
                console.print(Text(f"  {line}" if line else "", look))


def style(outcome: Outcome) -> str:
    """The colour of an outcome."""
    return _STYLES.get(outcome, "red")


def _lines(result: Result, dry: bool) -> Iterator[Line]:
    """What is told of a node below its outcome."""
    if result.message:
        yield safe(result.message), ""
    if result.output:  # of a node that is well: what was mended, or what became of an earlier installation
        yield from _output(result)
    if result.hint:
        yield f"hint: {safe(result.hint)}", "cyan"
    if result.outcome in WELL and (done := work(result)):
        yield f"{'would be: ' if dry else ''}{done}", ""
    for path, text in sorted(result.differences.items()):
        yield safe(path), "bold"
        yield from ((safe(line), _DIFF.get(line[:1], "")) for line in text.splitlines())


def _output(result: Result) -> Iterator[Line]:
    """The end of what was said: all of it is in the JSON and in what is recorded."""
    lines = [line for line in result.output.splitlines() if line.strip()]
    if len(lines) > _LINES:
        yield f"  ... {counted(len(lines) - _LINES, 'line')} before", "dim"
    yield from ((f"  {safe(line)}", "dim") for line in lines[-_LINES:])


def work(result: Result) -> str:
    """What was done on a node, in a few words."""
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


def summary(about: About, ending: Ending, results: Mapping[str, Result]) -> str:
    """How it went, in one sentence or two."""
    counts = ", ".join(f"{len(some)} {outcome}" for outcome, some in tallied(results.values()).items())
    said = f"{counted(len(results), 'node')}: {counts or 'nothing to do'}."
    which = f" Commit {about.commit[:ABBREVIATED]}, {ending.seconds:.1f} s."
    because = f" {safe(ending.because)}" if ending.why is not Why.DONE else ""
    return f"{said}{because}{which}"
