"""`gitcfg graph`: pictures of features, groups and a node's layers."""

import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.declaration import AtOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session, write
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown
from gitcfg.model.text import counted

if TYPE_CHECKING:
    from gitcfg.compile.fleet import Fleet as Compiled
    from gitcfg.library import Fleet
    from gitcfg.pictures.picture import Picture

EPILOG = """Examples:

  gitcfg graph features -o svg --out features.svg      all features, for a browser

  gitcfg graph groups Workers 'GPU workers' -o mermaid   two groups, for Markdown

  gitcfg graph node exec001.example.com | dot -Tpng > exec001.png"""


class Subject(StrEnum):
    """The subjects of pictures."""

    FEATURES = "features"
    GROUPS = "groups"
    NODE = "node"


class Form(StrEnum):
    """The form of a picture. For svg, Graphviz's `dot` is run."""

    DOT = "dot"
    MERMAID = "mermaid"
    SVG = "svg"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"


@command(EPILOG, Items("gitcfg.graph/1", "vertices", "vertex"))
def graph(
    context: typer.Context,
    subject: Annotated[Subject, typer.Argument(help="What to draw.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Features or groups (default: all), or the node."),
    ] = None,
    at: AtOption = None,
    out: Annotated[Path | None, typer.Option(help="Write to this file.", metavar="FILE")] = None,
    form: Annotated[Form, typer.Option("-o", "--output", help="Output format.")] = Form.DOT,
) -> None:
    """Draw features, groups, or the layers of one node."""
    session: Session = context.obj
    with session.fleet(at) as fleet:
        write_picture(session, fleet, find_picture(fleet.compiled, subject, tuple(names or ())), form, out)


SECONDS = 60.0
_ELSEWHERE = "`-o dot` and `-o mermaid` write the picture as text, without Graphviz."


def svg(text: str, program: str = "dot", seconds: float = SECONDS) -> str:
    """Convert a picture from dot's language to SVG. Raise GitcfgError if dot is missing, fails or hangs."""
    try:
        done = subprocess.run(
            [program, "-Tsvg"], input=text.encode(), capture_output=True, timeout=seconds, check=False
        )
    except OSError as error:
        raise GitcfgError(
            f"Graphviz's `{program}`, which draws the SVG, cannot be run: {error.strerror}.",
            "Install Graphviz (the package is usually called graphviz).",
            _ELSEWHERE,
        ) from None
    except subprocess.TimeoutExpired:
        raise GitcfgError(
            f"Graphviz's `{program}` did not draw the picture within {seconds:g} s.",
            "Name some features or groups, so that there is less to draw.",
            _ELSEWHERE,
            code=5,
        ) from None
    if done.returncode < 0:
        ended = signal.Signals(-done.returncode).name
        raise GitcfgError(f"Graphviz's `{program}` was ended by {ended}.", _ELSEWHERE)
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0] or "it does not say why"
        message = f"Graphviz's `{program}` failed with status {done.returncode}: {shown(reason, 200)}"
        raise GitcfgError(message, _ELSEWHERE)
    return done.stdout.decode("utf-8", "replace")


def find_picture(fleet: "Compiled", subject: Subject, names: tuple[str, ...]) -> "Picture":
    """Return the picture of a subject. Raise GitcfgError if a name does not exist."""
    from gitcfg.cli.nodes import find_node
    from gitcfg.pictures.features import features_picture, groups_picture
    from gitcfg.pictures.node import node_picture
    from gitcfg.pictures.picture import feature_names, group_names

    if subject is Subject.NODE:
        if len(names) != 1:
            raise GitcfgError(
                "A picture of layers needs exactly one node.", "Write `gitcfg graph node NODE`."
            )
        return node_picture(fleet, find_node(fleet.names, names[0]))
    if subject is Subject.GROUPS:
        _known("group", names, group_names(fleet.model))
        return groups_picture(fleet, names)
    _known("feature", names, feature_names(fleet.model))
    return features_picture(fleet, names)


def _known(noun: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = frozenset(known)
    for name in names:
        if name not in known:
            raise GitcfgError(f"There is no {noun} {shown(name)}.", did_you_mean(name, sorted(known)))


def write_picture(session: Session, fleet: "Fleet", picture: "Picture", form: Form, out: Path | None) -> None:
    """Write a picture to a file or to stdout."""
    if form not in (Form.DOT, Form.MERMAID, Form.SVG):
        from gitcfg.pictures.picture import picture_record

        record = picture_record(fleet.commit, picture)
        with _going_to(out):
            write_record(record, Output(form.value))
        return
    text = _text(session, picture, form)
    with _going_to(out):
        write(text)


def _text(session: Session, picture: "Picture", form: Form) -> str:
    if form is Form.MERMAID:
        from gitcfg.pictures.mermaid import MOST_EDGES, MOST_TEXT, mermaid, too_large

        text = mermaid(picture)
        if too_large(picture, text):
            size = f"{counted(len(picture.edges), 'line')} and {counted(len(text), 'character')}"
            hint = (
                f"hint: Mermaid draws {MOST_EDGES} lines and {MOST_TEXT} characters at most, unless its page"
            )
            session.console(stderr=True).print(f"{hint} says otherwise; these are {size}.", style="cyan")
        return text
    from gitcfg.pictures.dot import dot

    return dot(picture) if form is Form.DOT else svg(dot(picture))


@contextmanager
def _going_to(out: Path | None) -> Iterator[None]:
    """Redirect the output to a file, if there is one."""
    if out is None:
        yield
        return
    with out.open("w", encoding="utf-8") as file, redirect_stdout(file):
        yield
