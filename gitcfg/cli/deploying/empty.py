"""Options that are said, and say nothing: a script's variable, perhaps, that was never set."""

from collections.abc import Iterable

import typer

from gitcfg.model import GitcfgError

_WRITTEN = "COMMANDLINE"


def refuse_empty(context: typer.Context) -> None:
    """GitcfgError: something on the command line is empty; what the environment leaves empty is not said."""
    for param in context.command.params:
        name = param.name or ""
        source = context.get_parameter_source(name)
        if source is not None and source.name == _WRITTEN and _empty(context.params.get(name)):
            option = param.opts[0] if param.param_type_name == "option" else "A word that names nodes"
            raise GitcfgError(f"{option} is empty.", "Leave it out, or say what is meant.")


def _empty(value: object) -> bool:
    words = value if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    return any(isinstance(word, str) and not word.strip() for word in words)
