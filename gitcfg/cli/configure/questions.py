"""The questions of `gitcfg configure`."""

from collections.abc import Collection

from gitcfg.cli.configure.terminal import Talk
from gitcfg.edit.configure import match_name
from gitcfg.model.text import safe


def find_name(talk: Talk, noun: str, text: str, known: Collection[str]) -> str | None:
    """The name that is meant; asked about until it is clear. None: it is left."""
    while text:
        found = match_name(text, known)
        if found.sure is not None:
            return found.sure
        if found.is_prefix:
            talk.tell(f"{len(found.near)} {noun}s begin like this:")
            talk.list(found.near)
        else:
            talk.tell(f"There is no {noun} {safe(text)}.", "red")
            if len(found.near) == 1:
                if talk.agreed(f"Did you mean {safe(found.near[0])}?", default=True):
                    return found.near[0]
            elif found.near:
                talk.tell("Did you mean one of these?")
                talk.list(found.near)
        text = talk.ask(f"Which {noun} (Enter: none):")
    return None
