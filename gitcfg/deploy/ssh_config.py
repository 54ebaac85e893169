"""What ssh_config says: settings with all of `Include`, `ProxyCommand`, and keys to log in with."""

import os
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from glob import glob
from io import StringIO
from pathlib import Path
from typing import Any

import paramiko

from gitcfg.deploy.network import Unreached
from gitcfg.deploy.outcomes import Outcome
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

_USER, _SYSTEM = "~/.ssh/config", "/etc/ssh/ssh_config"
_DEEPEST = 16
_CERTIFICATE = "-cert.pub"
_PROXY_HINT = "ssh_config names it, and wants a program that is installed here."
_WRONG = (OSError, ValueError, LookupError, TypeError, AttributeError, paramiko.SSHException)


class Settings(paramiko.SSHConfig):  # type: ignore[misc]
    """What ssh_config says."""

    def _does_match(self, match_list: list[Any], *rest: Any) -> Any:
        """paramiko asks for the name of the user for each `Host` there is: 20 us of 200, for each host."""
        return super()._does_match(match_list, *rest) if match_list else False

    def _tokenize(self, config: Any, target_hostname: str, key: str, value: str) -> Any:
        """paramiko asks for all that could be put in also where nothing is to be: 0.3 ms for each host."""
        put_in = "%" in value or "~" in value
        return super()._tokenize(config, target_hostname, key, value) if put_in else value


def read_settings(file: str | None) -> Settings:
    """Read a file, or the user's and the system's. Raise GitcfgError if it cannot be read."""
    found = Settings()
    if file is not None and not Path(file).is_file():
        raise GitcfgError(f"There is no file {shown(file)}.", "--ssh-config names one as ssh -F does.")
    for path in (file,) if file is not None else (os.path.expanduser(_USER), _SYSTEM):
        folder = os.path.dirname(os.path.expanduser(_USER) if path != _SYSTEM else path)
        try:
            if os.path.isfile(path):
                found.parse(StringIO("\n".join(_lines(path, folder, 0))))
                found.lookup("localhost")
        except _WRONG as error:
            raise GitcfgError(f"{path} cannot be read: {shown(_reason(error).rstrip('.'), 200)}.") from None
    return found


def _lines(path: str, folder: str, depth: int) -> Iterator[str]:
    """Yield its lines, with those of files that it includes; after these the block around them goes on."""
    block = "Host *"
    for line in Path(path).read_text("utf-8", "replace").splitlines():
        word, _, rest = line.strip().replace("=", " ", 1).partition(" ")
        if word.lower() in ("host", "match"):
            block = line
        if word.lower() != "include" or depth == _DEEPEST:
            yield line
            continue
        for name in shlex.split(rest, comments=True):
            for included in sorted(glob(os.path.join(folder, os.path.expanduser(name)))):
                if os.path.isfile(included):
                    yield from _lines(included, folder, depth + 1)
        yield block


class Proxy(paramiko.ProxyCommand):  # type: ignore[misc]
    """paramiko's, started apart: Ctrl-C on the terminal would end it, and those at work are to finish.

    What it says on its standard error is left unread there, and would stop it once a pipe is full.
    """

    def __init__(self, command: str) -> None:
        """Raise Unreached if there is no such program, or its words cannot be told apart."""
        self.cmd = _words(command)
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        try:
            self.process = subprocess.Popen(
                self.cmd, stdin=pipe, stdout=pipe, stderr=null, bufsize=0, start_new_session=True
            )
        except (OSError, ValueError) as error:
            why = _lower(_reason(error))
            message = f"Its ProxyCommand {shown(self.cmd[0])} cannot be run here: {why}."
            raise Unreached(Outcome.UNREACHABLE, message, _PROXY_HINT) from None
        self.timeout = None


def _words(command: str) -> list[str]:
    why = "it is empty"
    try:
        if words := shlex.split(command):
            return words
    except ValueError as error:
        why = _lower(str(error))
    raise Unreached(
        Outcome.UNREACHABLE, f"The ProxyCommand that ssh_config says for it cannot be read: {why}."
    )


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


class Keys:
    """The keys of a deploy. paramiko reads a file up to three times for each host: 0.7 ms."""

    def __init__(self) -> None:
        self._read = lru_cache(maxsize=64)(_read)

    def arguments(self, options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
        """Return arguments for paramiko's client. A file that is not there is passed over, as ssh does.

        The first one is handed over read, and tried first. One with a certificate or a passphrase is left to
        paramiko, with all after it.
        """
        files = [file for file in map(os.path.expanduser, names) if os.path.isfile(file)]
        key = self._read(files[0]) if files else None
        found: dict[str, Any] = {"pkey": key} if key is not None else {}
        rest = files[len(found) :]
        if rest:
            found["key_filename"] = rest
        only = options.get("identitiesonly") == "yes"
        return {**found, **(dict.fromkeys(("allow_agent", "look_for_keys"), False) if only else {})}


def _read(file: str) -> paramiko.PKey | None:
    """Return the key in a file, None if paramiko may make more of it, or say what is wrong."""
    if file.endswith(_CERTIFICATE) or os.path.exists(file + _CERTIFICATE):
        return None
    for kind in (paramiko.RSAKey, paramiko.ECDSAKey, paramiko.Ed25519Key):
        try:
            return kind.from_private_key_file(file)
        except (OSError, ValueError, paramiko.SSHException):
            continue
    return None
