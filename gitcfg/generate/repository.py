"""Random repositories as files, one after another."""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from gitcfg.generate.files import (
    feature_files,
    group_files,
    node_files,
    override_files,
    parameter_files,
    secret_files,
    settings,
    subsystem_file,
)
from gitcfg.generate.mistakes import plant_mistakes
from gitcfg.generate.options import Options, validate
from gitcfg.generate.plan import plan_repository


def files(options: Options) -> Iterator[tuple[str, str]]:
    """Return path and YAML text of every file, one at a time. Raise GitcfgError if options are impossible."""
    validate(options)
    mistakes = plant_mistakes(options.mistakes)
    drawn = plan_repository(options)
    layers = (feature_files, group_files, node_files, override_files)
    parts = (parameter_files, subsystem_file, *layers, secret_files)
    return _with(mistakes, chain([settings(options)], chain.from_iterable(part(drawn) for part in parts)))


def _with(mistakes: dict[str, str], sound: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Return the sound files, as far as no mistake replaces them, then those that mistakes add."""
    for path, text in sound:
        yield path, mistakes.pop(path, text)
    yield from mistakes.items()


def repository(options: Options) -> Mapping[str, str]:
    """Return all files at once, path to YAML text, in the order in which they were written."""
    return dict(files(options))


def write(options: Options, folder: Path) -> int:
    """Write all files below a folder and say how many. Other files that stand there stay."""
    count = 0
    for path, text in files(options):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
        count += 1
    return count
