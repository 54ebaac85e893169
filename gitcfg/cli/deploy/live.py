"""Progress of a deploy: a bar and a table of active nodes on a terminal, otherwise a line for each node."""

from collections.abc import Callable
from contextlib import suppress

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gitcfg.cli.deploy.output import SilentListener, describe_work, format_stop, outcome_style
from gitcfg.deploy.outcomes import WELL, Outcome, Result
from gitcfg.model.text import counted, safe

_ROWS = 12
_EVERY = 0.1


class LineProgress(SilentListener):
    """A line for each node, without a terminal; the summary at the end has all details."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def ended(self, result: Result) -> None:
        message = describe_work(result) if result.outcome in WELL else safe(result.message)
        message = f"would be {message}" if result.outcome is Outcome.DIFFERS and message else message
        text = Text(f"{result.node} ").append(result.outcome.value, outcome_style(result.outcome))
        if result.outcome is not Outcome.SKIPPED:
            self._print(text.append(f": {message}") if message else text)

    def stopping(self, because: str) -> None:
        self._print(Text(format_stop(because)))

    def _print(self, text: Text) -> None:
        with suppress(OSError):  # a closed output does not stop a deploy
            self._console.print(text)


class LiveProgress(SilentListener):
    """A table that is drawn again a few times a second, and removed at the end."""

    def __init__(self, console: Console, nodes: int, batches: int, clock: Callable[[], float]) -> None:
        self._nodes = nodes
        self._batches = batches
        self._clock = clock
        self._batch = 1
        self._because = ""
        self._running: dict[str, tuple[float, str]] = {}
        self._counts = dict.fromkeys(Outcome, 0)
        self._drawn = 0.0
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> "LiveProgress":
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(OSError):  # the terminal is gone, but the remaining work is not
            self._live.stop()

    def began(self, node: str, batch: int) -> None:
        self._batch = batch
        self._running[node] = self._clock(), "connecting"
        self.tick()

    def step(self, node: str, step: str, detail: str) -> None:
        if node in self._running:
            self._running[node] = self._running[node][0], safe(f"{step} {detail}".strip())
        self.tick()

    def ended(self, result: Result) -> None:
        self._running.pop(result.node, None)
        self._counts[result.outcome] += 1
        self.tick()

    def stopping(self, because: str) -> None:
        self._because = format_stop(because)
        self._draw()

    def tick(self) -> None:
        """Draw the table, unless that was just done: drawing costs more than the shown work."""
        if self._clock() - self._drawn >= _EVERY:
            self._draw()

    def _draw(self) -> None:
        self._drawn = self._clock()
        with suppress(OSError):  # a closed terminal does not stop a deploy
            self._live.update(self._render(), refresh=True)

    def _render(self) -> Group:
        done = sum(self._counts.values())
        head = Table.grid(padding=(0, 1))
        batch = f"batch {self._batch} of {self._batches}" if self._batches > 1 else ""
        reached = ((outcome, number) for outcome, number in self._counts.items() if number)
        counts = Text(" ").join(Text(f"{number} {one}", outcome_style(one)) for one, number in reached)
        bar = ProgressBar(self._nodes, done, width=30)
        head.add_row(bar, f"{done} of {self._nodes} nodes", batch, counts)
        table = Table.grid(padding=(0, 2))
        # Nodes longest at work come first, so that one that hangs is visible.
        longest = sorted(self._running.items(), key=lambda pair: pair[1][0])
        for node, (since, step) in longest[:_ROWS]:
            table.add_row(Text(node, "bold"), f"{self._clock() - since:.0f} s", step)
        if len(longest) > _ROWS:
            table.add_row(Text(f"and {counted(len(longest) - _ROWS, 'more node')}", "dim"))
        return Group(head, *([Text(self._because, "yellow")] if self._because else []), table)
