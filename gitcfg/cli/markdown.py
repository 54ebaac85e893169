"""Changes as Markdown for a pull request: short lines and folded details, to be read on a phone too."""

from collections.abc import Iterable, Iterator
from itertools import chain, starmap

from msgspec import UNSET

from gitcfg.cli.changes import how_many, presence, safe_line
from gitcfg.cli.session import write
from gitcfg.cli.trails import as_text
from gitcfg.comparison.change import Change, Delta, Names, Reach, access, reach
from gitcfg.comparison.comparison import Comparison, file_diffs
from gitcfg.model.markdown import code, fenced, plain
from gitcfg.model.nodeset import fold, parts
from gitcfg.model.text import counted, safe

_LONGEST = 60
_FEW = 3
_SCREEN = 20
_SIGNS = {"+": "+", "-": "−", "": ""}


def write_markdown(changes: Comparison, files: bool, besides: Iterable[str] = ()) -> None:
    """The whole document; `files` adds the diffs of rendered files, `besides` is what changes no node."""
    for line in markdown_lines(changes, files, besides):
        write(f"{line}\n")


def markdown_lines(changes: Comparison, files: bool, besides: Iterable[str] = ()) -> Iterator[str]:
    """Its lines."""
    found = reach(changes)
    told = [f"- {code(line)}" for line in besides]
    if not changes:
        yield "**gitcfg:** no node changes."
        yield from ("", *told) if told else ()
        return
    yield f"### gitcfg: {how_many(found)}"
    yield ""
    yield from told
    yield from _actions(found)
    for change in changes:
        yield ""
        short = len(changes) <= _FEW and len(change.params) <= _SCREEN
        yield "<details open>" if short else "<details>"
        yield from _change(changes, change, files)
        yield "</details>"


def _actions(found: Reach) -> Iterator[str]:
    for verb, nodes in (("Restart", found.restart), ("Reload", found.reload), ("Stop", found.stop)):
        if nodes:
            each = (f"**{plain(name)}** on {len(nodes[name])}" for name in nodes)
            yield f"- {verb}: {', '.join(each)}"


def _change(changes: Comparison, change: Change, files: bool) -> Iterator[str]:
    yield f"<summary>{_summary(change)}</summary>"
    yield ""
    folded = fold(change.nodes)
    if len(folded) > _LONGEST:
        yield from (*fenced(parts(folded)), "")
    yield from _facts(changes, change)
    if change.params:
        yield from ("", *fenced(chain.from_iterable(starmap(_param, change.params.items())), "diff"))
    yield from _diffs(changes, change) if files else ()
    yield ""


def _facts(changes: Comparison, change: Change) -> Iterator[str]:
    for verb, subsystems in (("Restart", change.restart), ("Reload", change.reload), ("Stop", change.stop)):
        if subsystems:
            yield f"- {verb}: {', '.join(f'**{plain(name)}**' for name in subsystems)}"
    for noun, names in (("Groups", change.groups), ("Features", change.features)):
        if names:
            yield f"- {noun}: {_names(names)}"
    for path, sign in presence(changes, change):
        more = f" ({code(access(change.modes[path]))})" if path in change.modes else ""
        yield f"- File: {_SIGNS[sign]}{code(path)}{more}"


def _diffs(changes: Comparison, change: Change) -> Iterator[str]:
    for diff in file_diffs(changes, change):
        if diff.nodes != change.nodes:
            yield from ("", f"On {counted(len(diff.nodes), 'node')}, {code(fold(diff.nodes))}:")
        yield from ("", *fenced(map(safe_line, diff.lines), "diff"))


def _summary(change: Change) -> str:
    """One line of HTML: how many, who, and the gravest thing that happens."""
    folded = fold(change.nodes)
    who = folded if len(folded) <= _LONGEST else f"{change.nodes[0]} ..."
    verb = "restart" if change.restart else "stop" if change.stop else "reload" if change.reload else ""
    names = change.restart or change.stop or change.reload
    what = f": {verb} {', '.join(names)}" if names else ""
    return f"<b>{counted(len(change.nodes), 'node')} {change.kind}</b>{_html(what)} <code>{_html(who)}</code>"


def _names(names: Names) -> str:
    came = [f"+{plain(name)}" for name in names.added]
    return ", ".join([*came, *(f"−{plain(name)}" for name in names.removed)])


def _param(name: str, delta: Delta) -> Iterator[str]:
    for sign, value in (("-", delta.old), ("+", delta.new)):
        if value is not UNSET:
            yield f"{sign} {name} = {as_text(value)}"


def _html(text: str) -> str:
    return safe(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
