"""What has to change in a folder of hooks so that gitcfg's are in it, or no longer are."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from gitcfg.edit.hook_steps import Action, Step, is_same_file, kept_path, refusal
from gitcfg.edit.hooks import Marker, Script, parse_marker


def plan_install(folder: Path, scripts: Iterable[Script]) -> tuple[Step, ...]:
    """What puts scripts into a folder of hooks. GitcfgError (4): something is in the way."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise refusal(f"{folder} is no folder, so git runs no hooks.", "See `git config core.hooksPath`.")
    make = () if folder.is_dir() else (Step(Action.MAKE, folder),)
    return (*make, *(step for script in scripts for step in _installs(folder, script, bool(make))))


def _installs(folder: Path, script: Script, made: bool) -> Iterator[Step]:
    place = folder / script.name
    found, first = _content(place), _content(kept_path(place))
    known = _known(place, found)
    if known is None:
        _refuse_leftovers(place)
        wanted = replace(script, kept=replace(script.kept, made=made))
        if found is not None:
            yield Step(Action.KEEP, place)
        yield Step(Action.WRITE, place, None, wanted.text(found))
        return
    if known.folder != script.kept.folder:
        raise refusal(
            f"{place} judges the folder {known.folder or '.'} already.",
            "One hook judges one folder: `gitcfg hook remove` makes room for another.",
        )
    text = replace(script, kept=known).text(first)
    stays = text == found and os.access(place, os.X_OK)
    yield Step(Action.STAY if stays else Action.WRITE, place, found, text)


def _refuse_leftovers(place: Path) -> None:
    if os.path.lexists(kept_path(place)) and not is_same_file(place, kept_path(place)):
        hint = f"It was kept from a hook of before. See what it does; delete it, or make it {place}."
        raise refusal(f"{kept_path(place)} is there already.", hint)


def plan_removal(folder: Path, names: Iterable[str]) -> tuple[Step, ...]:
    """What takes gitcfg's own scripts out of a folder of hooks; those of others stay."""
    steps = list[Step]()
    made = False
    for place in (folder / name for name in names):
        found = _content(place) if folder.is_dir() else None
        known = _known(place, found)
        if known is not None:
            made = made or known.made
            steps.append(
                Step(Action.RESTORE if os.path.lexists(kept_path(place)) else Action.DELETE, place, found)
            )
    return (*steps, Step(Action.UNMAKE, folder)) if made else tuple(steps)


def plan_setting(file: Path, change: Callable[[bytes], bytes]) -> tuple[Step, ...]:
    """What changes a file of settings; nothing where there is nothing to change."""
    was = file.read_bytes()
    text = change(was)
    return (Step(Action.SET, file.resolve(), was, text),) if text != was else ()


def _known(place: Path, found: bytes | None) -> Marker | None:
    """What gitcfg's own script remembers. A link is somebody else's, wherever it leads."""
    return parse_marker(found) if found is not None and not place.is_symlink() else None


def _content(place: Path) -> bytes | None:
    """What a hook holds; None: there is none. GitcfgError (4): it is something else than a file."""
    if place.is_file():
        return place.read_bytes()
    if place.exists():
        raise refusal(f"{place} is no file.", "Nothing that git could run: see what it is, and move it.")
    return b"" if place.is_symlink() else None  # a link that leads nowhere is moved like others
