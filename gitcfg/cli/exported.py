"""What `gitcfg export docs` does: the reference as a folder, as a page, or both."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from gitcfg.cli.session import Session
from gitcfg.convert.reference.chapters import collect_reference
from gitcfg.convert.reference.content import FOLDERS, Reference
from gitcfg.model import GitcfgError
from gitcfg.model.text import counted, safe
from gitcfg.output.stamp import stamped
from gitcfg.output.stamped import Brought, Foreign, bring
from gitcfg.pictures.picture import Picture

_FIRST = "<!DOCTYPE html>\n"


class Request(msgspec.Struct, frozen=True):
    """What is asked for."""

    out: Path | None
    html: Path | None
    at: str | None
    title: str
    force: bool


def deliver(session: Session, request: Request) -> None:
    """Write what is asked for, and tell what was done."""
    if request.out is None and request.html is None:
        raise GitcfgError("Nothing is asked for.", "Say --out DIR for Markdown, or --html FILE for a page.")
    _refuse(request.out)
    with session.fleet(request.at) as fleet:
        reference = collect_reference(
            fleet.compiled, request.title, fleet.commit if request.at is not None else None
        )
    foreign = Foreign.REPLACE if request.force else Foreign.REFUSE
    for note in reference.notes:
        _note(session, note)
    if request.out is not None:
        from gitcfg.convert.reference.markdown import render_markdown

        files = {path: stamped(text) for path, text in render_markdown(reference).items()}
        _bring(session, request.out, files, foreign)
    if request.html is not None:
        page = stamped(_page(session, reference), _FIRST)
        _bring(session, request.html.parent, {request.html.name: page}, foreign, of=request.html)


def _refuse(folder: Path | None) -> None:
    """GitcfgError: a folder is a repository itself, in which features/ are other files."""
    if folder is not None and (folder / "gitcfg.yaml").exists():
        raise GitcfgError(f"{folder} is a repository.", "Name a folder of its own, such as docs/site.")


def _page(session: Session, reference: Reference) -> str:
    from gitcfg.cli.graphviz import svg
    from gitcfg.convert.reference.html import render_page
    from gitcfg.pictures.dot import dot

    told: list[str] = []

    def draw(picture: Picture) -> str | None:
        try:
            return svg(dot(picture))
        except GitcfgError as error:
            told.append(error.message)
            return None

    text = render_page(reference, draw)
    for message in dict.fromkeys(told):
        _note(session, f"{message} Lists stand in for pictures.")
    return text


def _bring(
    session: Session, top: Path, files: Mapping[str, bytes], foreign: Foreign, of: Path | None = None
) -> None:
    own = ("", *FOLDERS.values()) if of is None else ()
    done = bring(top, files, own, foreign)
    session.write(f"{safe(str(of or top))}: {_summary(done)}\n")
    for path in done.kept:
        _note(session, f"{path} is no longer meant, but was changed since gitcfg wrote it: it stays.")


def _summary(done: Brought) -> str:
    if not (done.written or done.removed):
        return f"nothing to do, {counted(done.same, 'file')} as before."
    parts = [(done.written, "written"), (done.removed, "removed"), (done.same, "as before")]
    return ", ".join(f"{counted(number, 'file')} {what}" for number, what in parts if number) + "."


def _note(session: Session, text: str) -> None:
    session.console(stderr=True).print(f"note: {safe(text)}", style="yellow")
