"""The gate's output for the pusher: findings first, then the reach, then why refs are rejected.

It is one screen at most: the commands in it show the rest.
"""

import signal
from collections.abc import Iterable, Sequence

from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from gitcfg.cli import changes, findings
from gitcfg.cli.commands import CLOSED_PIPE, FAULT, TIME_RAN_OUT
from gitcfg.comparison.change import reach
from gitcfg.gate.rulings import CommitFindings, Ruling
from gitcfg.model import REFUSED, Finding, GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, duration, few, safe
from gitcfg.nodeset import abridged
from gitcfg.sandbox.budget import Budget, End, Ended
from gitcfg.sandbox.protocol import size_in_words

_EARLIER = 3
_CHANGES = 20
_SECRETS = 10
_REFUSALS = 10
_MOST_DATED = 5


def unjudged(ended: Ended, limits: Budget) -> GitcfgError:
    """Return the error that the judgement of a push did not finish, with its last step."""
    at = f" It was {safe(ended.at)}." if ended.at else ""
    nothing = "so the push was rejected."
    match ended.why:
        case End.TIME:
            return GitcfgError(
                f"The check took longer than {duration(limits.seconds)}, {nothing}{at}",
                "What was read is kept: push again to continue from there. The server's "
                "administrator can raise the limit with `git config gitcfg.timeLimit 2m`.",
                code=TIME_RAN_OUT,
            )
        case End.MEMORY:
            return GitcfgError(
                f"The check took more than {size_in_words(limits.memory)} of memory, {nothing}{at}",
                "The server's administrator can raise the limit with `git config gitcfg.memoryLimit 2g`.",
                code=REFUSED,
            )
        case End.CLIENT:
            return GitcfgError(f"The client disconnected, {nothing}", code=CLOSED_PIPE)
        case End.FAULT:
            return GitcfgError(
                f"The process of the check was ended by signal {ended.signal}, {nothing}{at}",
                "Perhaps memory ran out: see the server's log." if ended.signal == signal.SIGKILL else "",
                code=FAULT,
            )


def print_ruling(console: Console, ruling: Ruling) -> None:
    """Print everything about refs that move between the same commits."""
    if ruling.unreadable:
        console.print("warning: The previous gitcfg.yaml cannot be read, so the strictest settings apply.")
    for seen in ruling.earlier[:_EARLIER]:
        console.print(Text(f"On the way there, in {seen.commit[:ABBREVIATED]}:", "bold"))
        _findings(console, ruling, seen)
    if rest := ruling.earlier[_EARLIER:]:
        console.print(Text(f"On the way there, {counted(len(rest), 'more commit')} with errors.", "bold"))
    if ruling.at_tip is not None:
        _findings(console, ruling, ruling.at_tip)
        if ruling.at_tip.checked.unjudged:
            console.print(
                "note: HTCondor's own parser is not installed on the server, "
                "so it did not check HTCondor files (GC307)."
            )
        _reach(console, ruling, ruling.at_tip)


def _findings(console: Console, ruling: Ruling, seen: CommitFindings) -> None:
    detail = findings.Detail(f"`gitcfg check {_again(ruling, seen)} --all` shows them")
    findings.print_findings(console, seen.tree, seen.wrong, seen.checked.every, detail)
    if seen.wrong:
        findings.print_summary(console, replace(seen.checked, findings=tuple(seen.wrong), ignored=()))
    before = len(seen.checked.findings) - len(seen.wrong) - len(_dated(seen))
    if before:
        console.print(f"Not shown: {counted(before, 'finding')} that existed before.")


def _dated(seen: CommitFindings) -> list[Finding]:
    """Return findings about ends that are over or near, which the push does not cause."""
    brought = set(seen.wrong)
    return [one for one in seen.checked.findings if one.code == "GC507" and one not in brought]


def _print_dated(console: Console, seen: CommitFindings) -> None:
    found = _dated(seen)
    for one in found[:_MOST_DATED]:
        nodes = f" On {counted(len(one.nodes), 'node')}: {safe(abridged(one.nodes))}." if one.nodes else ""
        console.print(Text(f"{safe(one.message)}{nodes}", "yellow"))
    if len(found) > _MOST_DATED:
        more = len(found) - _MOST_DATED
        console.print(f"... and {more} more that are overdue or end soon.", style="yellow")


def _reach(console: Console, ruling: Ruling, seen: CommitFindings) -> None:
    if seen.wrong or ruling.earlier:
        console.print()
    changes.print_marked(console, ruling.gate)
    _print_dated(console, seen)
    new = seen.commit[:ABBREVIATED]
    if ruling.changes is None or ruling.base is None:
        console.print(f"{counted(seen.checked.nodes, 'node')} in all.")
        console.print(f"`gitcfg check --at {new}` repeats the check.")
        return
    changes.print_stat(console, ruling.changes, most=_CHANGES)
    changes.print_reach(console, ruling.changes)
    for line in ruling.further:
        console.print(Text(safe(line)))
    secrets = reach(ruling.changes).secrets
    for name, nodes in list(secrets.items())[:_SECRETS]:
        text = Text(f"The secret {safe(name)} is new on {counted(len(nodes), 'node')}: ", "bold yellow")
        console.print(text.append(safe(abridged(nodes)), "magenta"))
    if rest := list(secrets)[_SECRETS:]:
        console.print(Text(f"More secrets that are new on nodes: {few(rest)}.", "bold yellow"))
    shows = f"`gitcfg diff {ruling.base[:ABBREVIATED]} {new}` shows it; " if ruling.changes else ""
    again = _again(ruling, *ruling.earlier, seen)
    console.print(f"{shows}`gitcfg check {again}` repeats the check.")


def _again(ruling: Ruling, *seen: CommitFindings) -> str:
    """Return the options of `gitcfg check` that show the same findings.

    GC405 needs a range and a person, because a commit alone does not show who pushed it.
    """
    charged = any(finding.code == "GC405" for each in seen for finding in each.wrong)
    last = (ruling.commit or "")[:ABBREVIATED]
    if charged and ruling.base is not None:
        return f"--each {ruling.base[:ABBREVIATED]}..{last} --as WHO"
    return f"--at {seen[-1].commit[:ABBREVIATED]}"


def print_refusals(console: Console, rulings: Iterable[Ruling]) -> None:
    """Print the refs that are rejected, and why; and the errors on others."""
    for ruling in rulings:
        if ruling.refused:
            names, refusals = ruling.protected, ruling.refusals
            if ruling.barred:
                names, refusals = ruling.refs, ruling.barred
            for refusal in refusals[:_REFUSALS]:
                console.print(_format_head("error", "red", names).append(safe(refusal.why)))
                if refusal.hint:
                    console.print(Text("hint: ", "cyan").append(safe(refusal.hint)))
            if rest := refusals[_REFUSALS:]:
                text = _format_head("error", "red", names)
                console.print(text.append(f"{counted(len(rest), 'more reason')}."))
        others = tuple(ref for ref in ruling.refs if ref not in ruling.protected)
        if others and ruling.errors:
            text = _format_head("warning", "yellow", others)
            number = counted(ruling.errors, "error")
            console.print(text.append(f"{number} that a protected branch would reject."))


def _format_head(word: str, color: str, refs: Sequence[str]) -> Text:
    return Text(f"{word}: ", f"bold {color}").append(f"{few([safe(ref) for ref in refs])}: ", "bold")
