"""Changes between two versions: on terminals, with the differing words marked, and as Markdown."""

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from html import escape

from msgspec import UNSET
from rich.console import Console
from rich.text import Text

from gitcfg.cli.trails import aligned, as_text
from gitcfg.comparison.change import Change, Delta, Kind, Names, Reach, access, reach
from gitcfg.comparison.comparison import Comparison, FileDiff, Steps, file_diffs, steps
from gitcfg.compile.operations import TrailStep
from gitcfg.explain.trail import format_step
from gitcfg.model.text import counted, escape_markdown, markdown_block, markdown_code, safe
from gitcfg.nodeset import IN_JSON, abridged, fold, parts

_WORD = re.compile(r"\w+|\s+|.")
_MOST = 400
"""The number of words beyond which nothing is marked: the time for matching grows with their product."""


def mark_differences(old: str | None, new: str | None) -> tuple[Text | None, Text | None]:
    """Return the old value in red and the new one in green, with the parts on one side only marked."""
    before = Text(old, "red") if old is not None else None
    after = Text(new, "green") if new is not None else None
    if old is None or new is None or before is None or after is None:
        return before, after
    ours, theirs = _WORD.findall(old), _WORD.findall(new)
    if max(len(ours), len(theirs)) > _MOST:
        return before, after
    for tag, i, j, k, m in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag != "equal":
            _mark(before, ours, i, j)
            _mark(after, theirs, k, m)
    return before, after


def _mark(text: Text, words: list[str], first: int, last: int) -> None:
    start = sum(map(len, words[:first]))
    text.stylize("bold underline", start, start + sum(map(len, words[first:last])))


# Changes for people: the nodes, the due actions, and values before and after.

_HEAD = {Kind.ADDED: "bold green", Kind.REMOVED: "bold red", Kind.CHANGED: "bold"}
_WIDTH = 100
_LINE = {"+": "green", "-": "red", "@": "cyan", "d": "bold", "o": "bold", "n": "bold", "\\": "dim"}


def print_changes(console: Console, changes: Comparison, stat: bool, files: bool) -> None:
    """Print each change as a paragraph, as a line (`stat`), or as diffs of its files (`files`)."""
    if stat:
        print_stat(console, changes, IN_JSON)
        return
    for index, change in enumerate(changes):
        if index:
            console.print()
        console.print(headline(change))
        for line in _contents(changes, change) if files else _paragraph(changes, change):
            console.print(line)


def print_stat(console: Console, changes: Iterable[Change], see: str = "", most: int | None = None) -> None:
    """Print a line for each change, for at most `most`. `see` says where all nodes of a change are listed."""
    found = tuple(changes)
    shown = found[:most]
    for row in aligned([_stat(change, see) for change in shown]) if shown else ():
        console.print(row)
    if more := len(found) - len(shown):
        console.print(f"... and {counted(more, 'more change')}")


def headline(change: Change) -> Text:
    """Format a change as `changed 24 nodes: exec[01-24]`."""
    text = Text(f"{change.kind} {counted(len(change.nodes), 'node')}: ", _HEAD[change.kind])
    return text.append(safe(abridged(change.nodes, IN_JSON)), "magenta")


def _paragraph(changes: Comparison, change: Change) -> Iterator[Text]:
    yield from _actions(change)
    for noun, names in (("groups", change.groups), ("features", change.features)):
        if names:
            yield Text(f"  {noun}: ", "dim").append_text(_names(names))
    samples = changes.samples(change.nodes) if change.params else ()
    for name, delta in change.params.items():
        yield from _param(change.kind, name, delta, steps(changes, samples, name))
    for path, sign in presence(changes, change):
        line = Text("  file ", "dim").append(f"{sign}{safe(path)}", _LINE.get(sign, ""))
        yield line.append(f" ({access(change.modes[path])})" if path in change.modes else "")


def presence(changes: Comparison, change: Change) -> Iterator[tuple[str, str]]:
    """Yield each file with `+` if it is added, `-` if it is removed, and "" if it is changed."""
    old, new = changes.pairs[change.nodes[0]]
    for path in change.files:
        was, is_ = old is not None and path in old.entries, new is not None and path in new.entries
        yield path, "+" if not was else "-" if not is_ else ""


def _actions(change: Change) -> Iterator[Text]:
    for verb, subsystems, style in (
        ("restart", change.restart, "bold yellow"),
        ("reload", change.reload, "yellow"),
        ("stop", change.stop, "bold red"),
    ):
        if subsystems:
            yield Text(f"  {verb}: ", "dim").append(", ".join(subsystems), style)


def _names(names: Names) -> Text:
    text = Text()
    for name in names.added:
        text.append(f"+{name} ", "green")
    for name in names.removed:
        text.append(f"-{name} ", "red")
    text.rstrip()
    return text


def _param(kind: Kind, name: str, delta: Delta, behind: Steps) -> Iterator[Text]:
    old, new = (as_text(value) if value is not UNSET else None for value in (delta.old, delta.new))
    before, after = mark_differences(old, new)
    for sign, value, why in (("-", before, behind.old), ("+", after, behind.new)):
        if value is not None:
            line = Text(f"{sign} {name} = ", _LINE[sign]).append_text(value)
            reason = f"# {_format_cause(why)}" if why and kind is not Kind.REMOVED else ""
            beside = len(line) + len(reason) < _WIDTH
            yield line.append(f"   {reason}" if beside and reason else "", "dim")
            if reason and not beside:
                yield Text(f"    {reason}", "dim")


def _format_cause(steps: tuple[TrailStep, ...]) -> str:
    """Format the place of the topmost step, with those of allocations, and the number of other steps."""
    last = steps[-1]
    places = dict.fromkeys((last.origin, *(decision.origin for decision in last.decided)))
    others = len(steps) - 1
    more = f" and {counted(others, 'other step')}" if others else ""
    return safe(f"{format_step(last)} in {' < '.join(last.path)}, {', '.join(map(str, places))}{more}")


def _contents(changes: Comparison, change: Change) -> Iterator[Text]:
    yield from _actions(change)
    for file in file_diffs(changes, change):
        if file.nodes != change.nodes:
            yield Text(f"on {counted(len(file.nodes), 'node')}: ").append(
                safe(abridged(file.nodes, IN_JSON)), "magenta"
            )
        yield from diff_lines(file)


def diff_lines(file: FileDiff) -> Iterator[Text]:
    """Yield a file's unified diff in git's colors."""
    for number, line in enumerate(file.lines):
        head = line.startswith(("---", "+++")) and number < 8
        yield Text(safe_line(line), "bold" if head else _LINE.get(line[:1], ""))


def safe_line(text: str) -> str:
    """Return a line of a file without control sequences of terminals; tabs stay."""
    return "\t".join(map(safe, text.split("\t")))


def _stat(change: Change, see: str) -> tuple[Text, ...]:
    size = ", ".join(
        counted(number, noun)
        for number, noun in (
            (len(change.params), "parameter"),
            (len(change.files), "file"),
            (len(change.features.added + change.features.removed), "feature"),
            (len(change.groups.added + change.groups.removed), "group"),
        )
        if number
    )
    actions = Text("  ").join(line[2:] for line in _actions(change))
    head = Text(f"{change.kind} {counted(len(change.nodes), 'node')}", _HEAD[change.kind])
    return head, Text(size), actions, Text(safe(abridged(change.nodes, see)), "magenta")


def print_marked(console: Console, lines: Iterable[str]) -> None:
    """Print lines that need attention although no node changes."""
    for line in lines:
        console.print(Text(safe(line), "bold yellow"))


def print_reach(console: Console, changes: Iterable[Change]) -> None:
    """Print the reach in one line."""
    found = reach(changes)
    console.print("; ".join(filter(None, (how_many(found), *what_happens(found)))) + ".")


def how_many(found: Reach) -> str:
    """Format the numbers of a reach as `24 nodes change, in 2 ways; 1 node comes`."""
    ways = f", in {counted(found.ways, 'way')}" if found.ways > 1 else ""
    numbers = (
        (found.changed, "change", "changes", ways),
        (found.added, "are added", "is added", ""),
        (found.removed, "are removed", "is removed", ""),
    )
    parts = (
        f"{counted(len(names), 'node')} {one if len(names) == 1 else many}{more}"
        for names, many, one, more in numbers
        if names
    )
    return "; ".join(parts) or "No node changes"


def what_happens(found: Reach) -> Iterator[str]:
    """Yield `restarts: startd on 24, schedd on 2`, and so on."""
    for noun, nodes in (("restarts", found.restart), ("reloads", found.reload), ("stops", found.stop)):
        if nodes:
            yield f"{noun}: " + ", ".join(f"{name} on {len(nodes[name])}" for name in nodes)
    if found.secrets:
        yield "secrets: " + ", ".join(f"{name} to {len(nodes)}" for name, nodes in found.secrets.items())


# Changes as Markdown for a pull request: short lines and folded details, readable on a phone, too.

_LONGEST = 60
_FEW = 3
_SCREEN = 20
_SIGNS = {"+": "+", "-": "−", "": ""}


def markdown_lines(changes: Comparison, files: bool, besides: Iterable[str] = ()) -> Iterator[str]:
    """Yield the document; `files` adds the diffs of rendered files, `besides` are changes without nodes."""
    found = reach(changes)
    others = [f"- {markdown_code(line)}" for line in besides]
    if not changes:
        yield "**gitcfg:** no node changes."
        yield from ("", *others) if others else ()
        return
    yield f"### gitcfg: {how_many(found)}"
    yield ""
    yield from others
    for verb, nodes in (("Restart", found.restart), ("Reload", found.reload), ("Stop", found.stop)):
        if nodes:
            each = (f"**{escape_markdown(name)}** on {len(nodes[name])}" for name in nodes)
            yield f"- {verb}: {', '.join(each)}"
    for change in changes:
        yield ""
        short = len(changes) <= _FEW and len(change.params) <= _SCREEN
        yield "<details open>" if short else "<details>"
        yield from _change(changes, change, files)
        yield "</details>"


def _change(changes: Comparison, change: Change, files: bool) -> Iterator[str]:
    yield f"<summary>{_summary(change)}</summary>"
    yield ""
    folded = fold(change.nodes)
    if len(folded) > _LONGEST:
        yield from (*markdown_block(parts(folded)), "")
    yield from _facts(changes, change)
    if change.params:
        lines: list[str] = []
        for name, delta in change.params.items():
            sides = (("-", delta.old), ("+", delta.new))
            lines += [f"{sign} {name} = {as_text(value)}" for sign, value in sides if value is not UNSET]
        yield from ("", *markdown_block(lines, "diff"))
    for diff in file_diffs(changes, change) if files else ():
        if diff.nodes != change.nodes:
            yield from ("", f"On {counted(len(diff.nodes), 'node')}, {markdown_code(fold(diff.nodes))}:")
        yield from ("", *markdown_block(map(safe_line, diff.lines), "diff"))
    yield ""


def _facts(changes: Comparison, change: Change) -> Iterator[str]:
    for verb, subsystems in (("Restart", change.restart), ("Reload", change.reload), ("Stop", change.stop)):
        if subsystems:
            yield f"- {verb}: {', '.join(f'**{escape_markdown(name)}**' for name in subsystems)}"
    for noun, names in (("Groups", change.groups), ("Features", change.features)):
        if names:
            yield f"- {noun}: {_names_markdown(names)}"
    for path, sign in presence(changes, change):
        more = f" ({markdown_code(access(change.modes[path]))})" if path in change.modes else ""
        yield f"- File: {_SIGNS[sign]}{markdown_code(path)}{more}"


def _summary(change: Change) -> str:
    """Return one line of HTML: the number of nodes, their names, and the most severe action."""
    folded = fold(change.nodes)
    who = folded if len(folded) <= _LONGEST else f"{change.nodes[0]} ..."
    verb = "restart" if change.restart else "stop" if change.stop else "reload" if change.reload else ""
    names = change.restart or change.stop or change.reload
    what = f": {verb} {', '.join(names)}" if names else ""
    what, who = (escape(safe(text), quote=False) for text in (what, who))
    return f"<b>{counted(len(change.nodes), 'node')} {change.kind}</b>{what} <code>{who}</code>"


def _names_markdown(names: Names) -> str:
    came = [f"+{escape_markdown(name)}" for name in names.added]
    return ", ".join([*came, *(f"−{escape_markdown(name)}" for name in names.removed)])
