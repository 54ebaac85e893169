"""Graphviz's `dot`, run as a child process that may neither hang nor fail unheard."""

import signal
import subprocess

from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

SECONDS = 60.0
_ELSEWHERE = "`-o dot` and `-o mermaid` write the picture as text, without Graphviz."


def svg(text: str, program: str = "dot", seconds: float = SECONDS) -> str:
    """A picture in dot's language as SVG. GitcfgError: dot is missing, fails, or takes too long."""
    try:
        done = subprocess.run(
            [program, "-Tsvg"], input=text.encode(), capture_output=True, timeout=seconds, check=False
        )
    except OSError as error:
        raise GitcfgError(
            f"Graphviz's `{program}`, which draws the SVG, cannot be run: {error.strerror}.",
            "Install Graphviz (the package is called graphviz nearly everywhere).",
            _ELSEWHERE,
        ) from None
    except subprocess.TimeoutExpired:
        raise GitcfgError(
            f"Graphviz's `{program}` has not drawn the picture within {seconds:g} s.",
            "Name some features or groups, so that there is less to draw.",
            _ELSEWHERE,
            code=5,
        ) from None
    if done.returncode < 0:
        ended = signal.Signals(-done.returncode).name
        raise GitcfgError(f"Graphviz's `{program}` was ended by {ended}.", _ELSEWHERE)
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0] or "it does not say why"
        raise GitcfgError(
            f"Graphviz's `{program}` failed with status {done.returncode}: {shown(told, 200)}",
            _ELSEWHERE,
        )
    return done.stdout.decode("utf-8", "replace")
