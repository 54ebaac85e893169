"""`gitcfg export`: the content of a repository, for people and programs elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from gitcfg.cli.declaration import AtOption, Group, OutputOption, command
from gitcfg.cli.records import Items, Record, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.convert.reference.chapters import collect_reference
from gitcfg.convert.reference.content import FOLDERS, Reference
from gitcfg.model import GitcfgError
from gitcfg.model.text import counted, safe
from gitcfg.output.stamps import Foreign, StampedChanges, add_stamp, update_stamped_folder
from gitcfg.pictures.picture import Picture

EPILOG = """Only files that gitcfg wrote, and that are unchanged since, are replaced or removed.

Examples:

  gitcfg export docs --out docs/site                 Markdown, for a forge

  gitcfg export docs --html site.html --at main      one page, for browsers

  gitcfg export docs --out site --html site.html --title 'The pool'"""
_OUT = typer.Option(help="Write or update a folder of Markdown.", metavar="DIR")
_HTML = typer.Option("--html", help="Write one self-contained page.", metavar="FILE")
_FORCE = typer.Option("--force", help="Also replace files that others wrote or changed.")
_FIRST = "<!DOCTYPE html>\n"


@command(EPILOG, Items("gitcfg.export/1", "outputs", "exported"))
def docs(
    context: typer.Context,
    out: Annotated[Path | None, _OUT] = None,
    html: Annotated[Path | None, _HTML] = None,
    at: AtOption = None,
    title: Annotated[str, typer.Option(help="Title of the reference.", metavar="TEXT")] = "Configuration",
    force: Annotated[bool, _FORCE] = False,
    output: OutputOption = Output.TEXT,
) -> None:
    """Write a reference of the repository: features, groups, parameters, subsystems, and what uses them."""
    session: Session = context.obj
    if out is None and html is None:
        raise GitcfgError(
            "There is nothing to write.", "Use --out DIR for Markdown, or --html FILE for a page."
        )
    if out is not None and (out / "gitcfg.yaml").exists():  # whose features/ has other files
        raise GitcfgError(f"{out} is a repository.", "Name a folder of its own, such as docs/site.")
    with session.fleet(at) as fleet:
        commit = fleet.commit
        reference = collect_reference(fleet.compiled, title, commit if at is not None else None)
    foreign = Foreign.REPLACE if force else Foreign.REFUSE
    for note in reference.notes:
        _print_note(session, note)
    done: dict[Path, StampedChanges] = {}
    if out is not None:
        from gitcfg.convert.reference.markdown import render_markdown

        files = {path: add_stamp(text) for path, text in render_markdown(reference).items()}
        done[out] = update_stamped_folder(out, files, ("", *FOLDERS.values()), foreign)
    if html is not None:
        page = add_stamp(_render_page(session, reference), _FIRST)
        done[html] = update_stamped_folder(html.parent, {html.name: page}, (), foreign)
    if output is not Output.TEXT:
        outputs = [_output_to_json(path, changes) for path, changes in done.items()]
        write_record({"schema": "gitcfg.export/1", "commit": commit, "outputs": outputs}, output)
        return
    for path, changes in done.items():
        _print_output(session, path, changes)


def _render_page(session: Session, reference: Reference) -> str:
    from gitcfg.cli.graph import svg
    from gitcfg.convert.reference.html import render_page
    from gitcfg.pictures.dot import dot

    problems: list[str] = []

    def draw(picture: Picture) -> str | None:
        try:
            return svg(dot(picture))
        except GitcfgError as error:
            problems.append(error.message)
            return None

    text = render_page(reference, draw)
    for message in dict.fromkeys(problems):
        _print_note(session, f"{message} The page has lists instead of pictures.")
    return text


def _output_to_json(path: Path, done: StampedChanges) -> Record:
    return {
        "path": str(path),
        "written": done.written,
        "removed": done.removed,
        "same": done.same,
        "kept": list(map(str, done.kept)),
    }


def _print_output(session: Session, place: Path, done: StampedChanges) -> None:
    summary = f"nothing to do, {counted(done.same, 'file')} as before."
    if done.written or done.removed:
        parts = ((done.written, "written"), (done.removed, "removed"), (done.same, "as before"))
        summary = ", ".join(f"{counted(number, 'file')} {what}" for number, what in parts if number) + "."
    session.write(f"{safe(str(place))}: {summary}\n")
    for path in done.kept:
        _print_note(session, f"{path} is obsolete, but was changed since gitcfg wrote it, so it is kept.")


def _print_note(session: Session, text: str) -> None:
    session.console(stderr=True).print(f"note: {safe(text)}", style="yellow")


export = Group("Export a repository as documents.", {"docs": docs})
