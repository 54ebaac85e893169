"""`gitcfg graph`: pictures of features, groups and a node's layers."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gitcfg.cli.session import Session

EPILOG = """Examples:

  gitcfg graph features -o svg --out features.svg      all features, for a browser

  gitcfg graph groups Workers 'GPU workers' -o mermaid   two groups, for Markdown

  gitcfg graph node exec001.example.com | dot -Tpng > exec001.png"""


class Subject(StrEnum):
    """What there are pictures of."""

    FEATURES = "features"
    GROUPS = "groups"
    NODE = "node"


class Form(StrEnum):
    """What a picture is written as. For svg, Graphviz's `dot` is run."""

    DOT = "dot"
    MERMAID = "mermaid"
    SVG = "svg"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    subject: Annotated[Subject, typer.Argument(help="What to draw.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Features or groups, else all are drawn; or the node."),
    ] = None,
    at: Annotated[str | None, typer.Option(help="A commit instead of the work tree.", metavar="REV")] = None,
    out: Annotated[Path | None, typer.Option(help="Write to this file.", metavar="FILE")] = None,
    form: Annotated[Form, typer.Option("-o", "--output", help="What to write.")] = Form.DOT,
) -> None:
    """Draw features, groups, or the layers of one node."""
    session: Session = context.obj
    with session.fleet(at) as fleet:
        from gitcfg.cli.pictures import find_picture, write_picture

        write_picture(session, fleet, find_picture(fleet.compiled, subject, tuple(names or ())), form, out)
