"""A connection through a program (`ProxyCommand`), which is nobody's business but ours."""

import shlex
import subprocess

import paramiko

from gitcfg.deploy.outcomes import Outcome
from gitcfg.deploy.reach import Unreached
from gitcfg.model.names import shown

_HINT = "ssh_config names it, and wants a program that is installed here."


class Proxy(paramiko.ProxyCommand):  # type: ignore[misc]
    """paramiko's, started apart: Ctrl-C on the terminal would end it, and those at work are to finish.

    What it says on its standard error is left unread there, and would stop it once a pipe is full.
    """

    def __init__(self, command: str) -> None:
        """Unreached: there is no such program, or its words cannot be told apart."""
        self.cmd = _words(command)
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        try:
            self.process = subprocess.Popen(
                self.cmd, stdin=pipe, stdout=pipe, stderr=null, bufsize=0, start_new_session=True
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            message = f"Its ProxyCommand {shown(self.cmd[0])} cannot be run here: {why[:1].lower()}{why[1:]}."
            raise Unreached(Outcome.UNREACHABLE, message, _HINT) from None
        self.timeout = None


def _words(command: str) -> list[str]:
    why = "it is empty"
    try:
        if words := shlex.split(command):
            return words
    except ValueError as error:
        why = str(error)
    message = f"The ProxyCommand that ssh_config says for it cannot be read: {why[:1].lower()}{why[1:]}."
    raise Unreached(Outcome.UNREACHABLE, message)
