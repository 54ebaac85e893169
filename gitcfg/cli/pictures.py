"""Pictures on their way out: what is asked for, in which language, and where to."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from gitcfg.cli.graph import Form, Subject
from gitcfg.cli.session import Output, Session, write
from gitcfg.compile.fleet import Fleet as Compiled
from gitcfg.library import Fleet
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown
from gitcfg.model.text import counted
from gitcfg.pictures.features import features_picture
from gitcfg.pictures.groups import groups_picture
from gitcfg.pictures.node import node_picture
from gitcfg.pictures.picture import Picture, feature_names, group_names


def find_picture(fleet: Compiled, subject: Subject, names: tuple[str, ...]) -> Picture:
    """The picture that is asked for. GitcfgError: there is nothing of such a name."""
    if subject is Subject.NODE:
        if len(names) != 1:
            raise GitcfgError("A picture of layers is of one node.", "Write `gitcfg graph node NODE`.")
        _known("node", names, fleet.names)
        return node_picture(fleet, names[0])
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


def write_picture(session: Session, fleet: Fleet, picture: Picture, form: Form, out: Path | None) -> None:
    """Write a picture to a file or to stdout."""
    if form not in (Form.DOT, Form.MERMAID, Form.SVG):
        from gitcfg.cli.records import write_record
        from gitcfg.pictures.picture import picture_record

        record = picture_record(fleet.commit, picture)
        with _going_to(out):
            write_record(record, Output(form.value))
        return
    text = _text(session, picture, form)
    with _going_to(out):
        write(text)


def _text(session: Session, picture: Picture, form: Form) -> str:
    if form is Form.MERMAID:
        from gitcfg.pictures.mermaid import MOST_EDGES, MOST_TEXT, mermaid, too_large

        text = mermaid(picture)
        if too_large(picture, text):
            size = f"{counted(len(picture.edges), 'line')} and {counted(len(text), 'character')}"
            told = (
                f"hint: Mermaid draws {MOST_EDGES} lines and {MOST_TEXT} characters at most, unless its page"
            )
            session.console(stderr=True).print(f"{told} says otherwise; these are {size}.", style="cyan")
        return text
    from gitcfg.pictures.dot import dot

    if form is Form.DOT:
        return dot(picture)
    from gitcfg.cli.graphviz import svg

    return svg(dot(picture))


@contextmanager
def _going_to(out: Path | None) -> Iterator[None]:
    """What is written goes to a file, if there is one to go to."""
    if out is None:
        yield
        return
    with out.open("w", encoding="utf-8") as file, redirect_stdout(file):
        yield
