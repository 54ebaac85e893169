"""`gitcfg log`: the commits that changed a node, parameter, feature or group."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

import msgspec
import typer
from msgspec import UNSET

from gitcfg.cli.declaration import OutputOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.comparison.change import Delta, Kind
from gitcfg.history.effect import Effect, NodeCount
from gitcfg.history.log import Entry, Log, Question, Subject, log_record
from gitcfg.model import Op
from gitcfg.model.secrets import shown
from gitcfg.model.text import ABBREVIATED, counted, safe
from gitcfg.nodeset import IN_JSON, abridged_set

EPILOG = """Examples:

  gitcfg log exec001.example.com                    the commits that changed what the node gets

  gitcfg log exec001.example.com START --limit 3    ... and one parameter's value on it

  gitcfg log GpuNode --kind feature --at main -o json"""

_THING = typer.Argument(
    help="A node, parameter, feature or group; it may be deleted by now.", metavar="NODE|PARAM|FEATURE|GROUP"
)
_PARAM = typer.Argument(help="Show only this parameter of the node.", metavar="PARAM")
_AT = typer.Option(help="Start at this commit; default: HEAD.", metavar="REV")
_KIND = typer.Option("--kind", help="The kind, if things of several kinds have this name.")


@command(EPILOG, Items("gitcfg.log/1", "commits", "commit"))
def log(
    context: typer.Context,
    thing: Annotated[str, _THING],
    param: Annotated[str | None, _PARAM] = None,
    at: Annotated[str, _AT] = "HEAD",
    kind: Annotated[Subject | None, _KIND] = None,
    limit: Annotated[
        int | None, typer.Option(help="Show at most this number of commits.", metavar="N", min=1)
    ] = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """List the commits that changed a result, newest first, with the changes."""
    session: Session = context.obj
    found = session.open().log(thing, param, kind=kind, revision=at, limit=limit)
    if output is not Output.TEXT:
        write_record(log_record(found), output)
    else:
        print_log(session, found)
    return 0


Piece = tuple[str, str]
Line = list[Piece]

_SIGNS = {"+": "green", "-": "red", "": ""}
_SHORT = 60
"""The most characters of a value that are shown in a line with other things."""


def effect_lines(question: Question, effect: Effect) -> Iterator[Line]:
    """Yield a line for each change of the result: pieces of text with their styles."""
    if question.param is not None:
        yield from (_transition(delta) for delta in effect.params.values())
    elif question.kind is Subject.PARAM:
        yield from _parameter_lines(effect)
    elif effect.kind is not Kind.CHANGED:
        yield _existence_line(effect)
    elif question.kind is Subject.NODE:
        yield from _layer_lines(effect, "features")
    else:
        inside = "features" if question.kind is Subject.GROUP else "includes"
        written = {
            name: Delta(_operations(delta.old), _operations(delta.new))
            for name, delta in effect.params.items()
        }
        yield from _layer_lines(msgspec.structs.replace(effect, params=written), inside)


def _parameter_lines(effect: Effect) -> Iterator[Line]:
    for turn in effect.values:
        yield [
            *_node_count(NodeCount(turn.nodeset, turn.count)),
            (": ", ""),
            *_transition(Delta(turn.old, turn.new)),
        ]
    deltas = effect.declaration
    if deltas and all(delta.new is UNSET for delta in deltas.values()):
        yield [("no longer declared", "red")]
    elif deltas and all(delta.old is UNSET for delta in deltas.values()):
        declared = {key: delta.new for key, delta in deltas.items() if key != "name"}
        yield [("declared: ", "green"), *_join([(_key(key, new), "")] for key, new in declared.items())]
    elif deltas:
        yield [("declaration: ", "dim"), *_join(_redeclared(key, delta) for key, delta in deltas.items())]


def _redeclared(key: str, delta: Delta) -> Line:
    """Return the line of a key of a declaration that was added, removed or changed."""
    if delta.old is UNSET or delta.new is UNSET:
        sign, value = ("+", delta.new) if delta.old is UNSET else ("-", delta.old)
        return [(f"{sign}{_key(key, value)}", _SIGNS[sign])]
    return (
        [(f"{key} ", ""), *_transition(delta)] if _is_short(delta) and key != "description" else [(key, "")]
    )


def _key(key: str, value: Any) -> str:
    """Return a key with its value; without it if it is long, or true."""
    long = key == "description" or len(_text(value)) > _SHORT
    return key.replace("_", " ") if long or value is True else f"{key} {_text(value)}"


def _layer_lines(effect: Effect, features: str) -> Iterator[Line]:
    names = list(effect.params)
    if len(names) == 1 and _is_short(effect.params[names[0]]):
        yield [(safe(names[0]), "bold"), (": ", ""), *_transition(effect.params[names[0]])]
    elif names:
        signs = ("+" if d.old is UNSET else "-" if d.new is UNSET else "" for d in effect.params.values())
        yield [("parameters: ", "dim"), *_signed(zip(signs, names, strict=True))]
    for noun, changed in ((features, effect.features), ("groups", effect.groups)):
        if changed:
            signed = [("+", name) for name in changed.added] + [("-", name) for name in changed.removed]
            yield [(f"{noun}: ", "dim"), *_signed(signed)]
    if effect.files:
        yield [("files: ", "dim"), *_join([(safe(path), "")] for path in effect.files)]
    for sign, held in (("+", effect.added), ("-", effect.removed)):
        if held is not None:
            yield [(f"{sign} ", _SIGNS[sign]), *_node_count(held)]


def _existence_line(effect: Effect) -> Line:
    """Return the line of a thing that was added, with its content, or removed."""
    if effect.kind is Kind.REMOVED:
        gone: Line = [("removed", "bold red")]
        return [*gone, (" from ", ""), *_node_count(effect.removed)] if effect.removed else gone
    parts = (
        (len(effect.params), "parameter"),
        (len(effect.features.added), "feature"),
        (len(effect.groups.added), "group"),
        (len(effect.files), "file"),
    )
    line = [[(counted(number, noun), "")] for number, noun in parts if number]
    line += [_node_count(effect.added)] if effect.added else []
    return [("new", "bold green"), (": ", ""), *_join(line)] if line else [("new", "bold green")]


def _signed(names: Iterable[tuple[str, str]]) -> Line:
    return _join([(f"{sign}{safe(name)}", _SIGNS[sign])] for sign, name in names)


def _node_count(held: NodeCount) -> Line:
    return [
        (counted(held.count, "node"), ""),
        (f" ({safe(abridged_set(held.nodeset, held.count, IN_JSON))})", "magenta"),
    ]


def _transition(delta: Delta) -> Line:
    return [(_text(delta.old), "red"), (" -> ", ""), (_text(delta.new), "green")]


def _is_short(delta: Delta) -> bool:
    return max(len(_text(delta.old)), len(_text(delta.new))) <= _SHORT


def _text(value: Any) -> str:
    if value is UNSET:
        return "not bound"
    if value is None:
        return "(no value)"
    value = shown(value)
    return safe(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def _operations(steps: Any) -> Any:
    return steps if steps is UNSET else ", then ".join(map(_operation, steps))


def _operation(step: Mapping[str, Any]) -> str:
    op, given = step["op"], step["given"]
    if op == Op.NULL:
        return "null"
    return _text(given) if op in (Op.SET, Op.SECRET) else f"${op} {_text(given)}"


def _join(parts: Iterable[Line]) -> Line:
    line: Line = []
    for part in parts:
        line += [(", ", ""), *part] if line else part
    return line


def print_log(session: Session, log: Log) -> None:
    """Print the commits, newest first, each with a line for every change of the result.

    Without colors no slow module is imported.
    """
    if not log.entries:
        session.console(stderr=True).print("No commit changed it.")
    lines = (line for entry in log.entries for line in _lines(log.question, entry))
    if not session.has_color(session.pager.stdout):
        session.write("".join(f"{''.join(text for text, _ in line)}\n" for line in lines))
        return
    from rich.text import Text

    console = session.console()
    for line in lines:
        console.print(Text.assemble(*line))


def _lines(question: Question, entry: Entry) -> Iterator[Line]:
    commit = entry.commit
    head = [(commit.commit[:ABBREVIATED], "yellow"), (f" {commit.date[:10]} ", "dim")]
    if commit.shallow:
        yield [*head[:1], (" or earlier: this clone's history ends here", "bold")]
        yield [("    `git fetch --unshallow` gets the earlier commits", "")]
        return
    yield [*head, (safe(commit.author), "blue"), (f": {safe(commit.subject)}", "bold")]
    for line in effect_lines(question, entry.effect):
        yield [("    ", ""), *line]
