"""A connection through a program (`ProxyCommand`), which is nobody's business but ours."""

import shlex
import subprocess

import paramiko


class Proxy(paramiko.ProxyCommand):  # type: ignore[misc]
    """paramiko's, started apart: Ctrl-C on the terminal would end it, and those at work are to finish.

    What it says on its standard error is left unread there, and would stop it once a pipe is full.
    """

    def __init__(self, command: str) -> None:
        """OSError: there is no such program. ValueError: its words cannot be told apart."""
        self.cmd = shlex.split(command)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            self.cmd, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0, start_new_session=True
        )
        self.timeout = None
