"""What a check could not look at, for eyes: files of a target whose own parser is not installed."""

from rich.console import Console

from gitcfg.cli.plain import counted


def tell_unjudged(console: Console, number: int) -> None:
    """Say once how many HTCondor files nobody but gitcfg itself has read."""
    if number:
        were = "was" if number == 1 else "were"
        console.print(
            f"note: HTCondor's own parser is not installed, so {counted(number, 'HTCondor file')} {were} "
            "not judged (GC307).",
            style="yellow",
        )
        console.print("hint: Install it with pip install 'gitcfg[htcondor]'.", style="cyan")
