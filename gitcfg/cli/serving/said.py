"""What a command line says of where a server keeps what it knows: a server, a database, or a folder."""

from collections.abc import Mapping

import msgspec
import typer

from gitcfg.model import GitcfgError

_WRITTEN = "COMMANDLINE"


class Asked(msgspec.Struct, frozen=True):
    """A server with a token, the address of a database, or a server's folder; without any, the usual one."""

    url: str | None = None
    folder: str | None = None
    server: str | None = None
    token: str | None = None


def asked(
    context: typer.Context,
    url: str | None,
    folder: str | None,
    server: str | None = None,
    token: str | None = None,
) -> Asked:
    """What is said. What is written beats what the environment says. GitcfgError: two are said."""
    said = {"--server": server, "--database": url, "--state": folder}
    written = {option: value for option, value in said.items() if value and _written(context, option)}
    _refuse_two(written, url)
    first = next(iter(written or {option: value for option, value in said.items() if value}), None)
    if first == "--server":
        return Asked(server=server, token=token)
    return Asked(url=url) if first == "--database" else Asked(folder=folder)


def _refuse_two(written: Mapping[str, str], url: str | None) -> None:
    """A database may be said beside the folder: the server's key is there."""
    if "--server" in written and len(written) > 1:
        other = next(option for option in written if option != "--server")
        raise GitcfgError(f"--server and {other} cannot both be said.", "A server knows its own database.")
    if list(written) == ["--state"] and url:
        message = "--state and GITCFG_DATABASE say two databases."
        raise GitcfgError(message, "Say --database, or let GITCFG_DATABASE be empty.")


def _written(context: typer.Context, option: str) -> bool:
    """Does an option stand in the command itself, not in the environment?"""
    for param in context.command.params:
        if option in param.opts:
            source = context.get_parameter_source(param.name or "")
            return source is not None and source.name == _WRITTEN
    return False
