"""A console that leaves closed pipes to the one boundary."""

from rich.console import Console


class Terminal(Console):
    """rich's console, which by itself would exit when nobody reads on."""

    def on_broken_pipe(self) -> None:
        """Called when the reader has gone."""
        raise BrokenPipeError
