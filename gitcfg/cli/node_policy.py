"""`gitcfg node policy`: what nodes' own agent.toml must let gitcfg use."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gitcfg.cli.declaration import command
from gitcfg.cli.records import Items
from gitcfg.cli.session import Output, Session, write
from gitcfg.model.text import counted, safe

if TYPE_CHECKING:
    from gitcfg.delivery.policy import CommandNeed, Needs, PathNeed

_POLICY_EPILOG = """Examples:

  gitcfg node policy exec001                           what to write into its agent.toml

  gitcfg node policy @gpu exec[001-100] --at main      what all of these need, at a commit

  gitcfg node policy --where '"gpu" in node.labels' -o json"""


@command(_POLICY_EPILOG, Items("gitcfg.policy/1", "commands", "permission"))
def show_policy(
    context: typer.Context,
    nodes: Annotated[list[str] | None, typer.Argument(help="Nodes: names, exec[001-100], @group.")] = None,
    where: Annotated[str | None, typer.Option(help="Nodes for which this holds.", metavar="CEL")] = None,
    at: Annotated[str | None, typer.Option(help="A commit instead of the work tree.", metavar="REV")] = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> int:
    """Show the paths and commands that nodes need, as agent.toml has them; without nodes, for all."""
    from gitcfg.delivery.policy import find_needs

    session: Session = context.obj
    with session.fleet(at) as fleet:
        from gitcfg.cli.nodes import choose_nodes

        found = find_needs(fleet, choose_nodes(fleet, nodes or (), where))
        commit = fleet.commit
    if output is Output.TEXT:
        write("".join(f"{line}\n" for line in format_policy(found)))
        return 0
    from gitcfg.cli.records import write_record

    write_record(policy_to_json(commit, found), output)
    return 0


def format_policy(found: "Needs") -> Iterator[str]:
    """The lines of agent.toml."""
    from gitcfg.nodeset import IN_JSON, abridged

    yield f"# For {counted(len(found.nodes), 'node')}: {safe(abridged(found.nodes, IN_JSON))}"
    if found.retired:
        names = safe(abridged(found.retired, IN_JSON))
        yield f"# Retired, so that they still need what they needed before (--at REV): {names}"
    if found.own or found.ending:
        said = [*found.own, *(" ".join(words) for words in found.ending)]
        yield f"# Never let, so that no commit cuts a node off: {safe('; '.join(said))}"
    yield "paths = ["
    yield from map(_format_path, found.paths)
    yield "]"
    if any(one.assumed for one in found.commands):
        yield "# Of programs that the repository names alone, these are the usual places. See whether your"
        yield "# nodes have them there: `command -v NAME`."
    yield "commands = ["
    for one in found.commands:
        yield from _format_command(one)
    yield "]"


def policy_to_json(commit: str | None, found: "Needs") -> dict[str, Any]:
    """`gitcfg.policy/1`: `paths` are globs, `pattern` is null where no policy can let a command."""
    from gitcfg.nodeset import fold

    return {
        "schema": "gitcfg.policy/1",
        "commit": commit,
        "nodeset": fold(found.nodes),
        "count": len(found.nodes),
        "retired": list(found.retired),
        "paths": [{"glob": one.glob, "files": list(one.files)} for one in found.paths],
        "commands": [_use_to_json(one) for one in found.commands],
    }


def _use_to_json(one: "CommandNeed") -> dict[str, Any]:
    pattern = None if one.program is None else list(one.pattern)
    return {"run": list(one.words), "pattern": pattern, "assumed": one.assumed, "risks": list(one.risks)}


def _format_path(one: "PathNeed") -> str:
    said = "" if len(one.files) == 1 else f"  # for {counted(len(one.files), 'file')}: {_join_names(one)}"
    return f"  {_quote(one.glob)},{said}"


def _join_names(one: "PathNeed") -> str:
    return safe(", ".join(path.rpartition("/")[2] for path in one.files))


def _format_command(one: "CommandNeed") -> Iterator[str]:
    for risk in one.risks:
        yield f"  # {safe(risk)}:"
    if one.program is None:
        yield "  # No policy can let this: its program is named neither alone nor by its whole path."
    words = ", ".join(map(_quote, one.words if one.program is None else one.pattern))
    yield f"  {'# ' if one.program is None else ''}[{words}],"


def _quote(word: str) -> str:
    """A word as TOML: what JSON leaves as it is and TOML does not is escaped, too."""
    import json

    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")
