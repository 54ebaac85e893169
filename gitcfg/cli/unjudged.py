"""What a check does not look at, for eyes: files of a target whose own parser is not installed."""

from typing import TYPE_CHECKING

from gitcfg.model.text import install_hint

if TYPE_CHECKING:
    from gitcfg.cli.session import Session
    from gitcfg.library import Fleet


class ParserNotice:
    """Says once, as early as it is known, that nobody judges HTCondor's files."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._given = False

    def give(self, fleet: "Fleet") -> None:
        """Say so if it is true of a fleet: call this before it is checked, and after."""
        if self._given or not fleet.lacks_parser():
            return
        self._given = True
        console = self._session.console(stderr=True)
        console.print(
            "note: HTCondor's own parser is not installed, so HTCondor files are not judged by it (GC307).",
            style="yellow",
        )
        console.print(f"hint: {install_hint('htcondor')}", style="cyan")
