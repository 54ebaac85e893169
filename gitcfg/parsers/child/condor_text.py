"""What gitcfg itself can say of HTCondor configuration, whether or not HTCondor's parser is there."""

from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.compile import lists
from gitcfg.parsers.child.circles import circles
from gitcfg.parsers.child.commands import refused, settings
from gitcfg.parsers.child.said import Meant, Said


def judge(config: str, meant: Meant | None) -> Iterator[Said]:
    """What keeps a text from being parsed: commands that reach beyond it, and macros in circles."""
    if meant is not None:
        yield from circles(
            {name: text(name, value, meant.separators) for name, value in meant.values.items()}
        )
        return
    command = refused(config)
    if command is not None:
        yield command
    else:
        yield from circles(settings(config))


def text(name: str, value: Any, separators: Mapping[str, str | None]) -> str:
    """A value as it stands in the file, but for the case of booleans."""
    return lists.join(value, separators.get(name)) if isinstance(value, list) else str(value)
