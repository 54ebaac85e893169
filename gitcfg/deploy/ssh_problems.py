"""Why a connection failed: what paramiko and the system say of it, as one outcome and a sentence."""

import errno
import os
import re
import socket
import struct

from paramiko.ssh_exception import (
    AuthenticationException,
    NoValidConnectionsError,
    PasswordRequiredException,
    ProxyCommandFailure,
    SSHException,
)

from gitcfg.deploy.outcomes import Outcome
from gitcfg.deploy.reach import Unreached
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

_HOSTILE = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError),
    struct.error,
)
"""What comes out of paramiko where a host says what no sshd would: that host's trouble, and nobody else's."""
FAILURES = (OSError, EOFError, SSHException, ValueError, GitcfgError, *_HOSTILE)
"""All that opening a connection may raise."""
_BANNER = "banner"
_NO_KEY = "No authentication methods available"
_PORT = re.compile(r" ?port [0-9]+\Z")
_MORE = frozenset("@:/")
"""What is in addresses that are more than a host."""


def unreached(error: Exception, address: str, user: str) -> Unreached:
    """A failure to connect; `address` is where, if its name does not say it, and `user` as whom."""
    if isinstance(error, Unreached):
        return error
    if isinstance(error, GitcfgError):
        return Unreached(Outcome.UNREACHABLE, error.message, *error.hints)
    if isinstance(error, PasswordRequiredException):
        hint = "`ssh-add` opens it for the SSH agent, which is then asked."
        return Unreached(Outcome.AUTH, "The key to log in with has a passphrase.", hint)
    if isinstance(error, AuthenticationException):
        hint = "Does `ssh` get in without asking? --user names another user."
        return Unreached(Outcome.AUTH, f"No key that is here lets {shown(user)} in.", hint)
    if str(error).startswith(_NO_KEY):
        message = "There is no key here to log in with, and no SSH agent that has one."
        hint = "IdentityFile in ssh_config names a file; `ssh-add` gives one to the agent of SSH_AUTH_SOCK."
        return Unreached(Outcome.AUTH, message, hint)
    if isinstance(error, socket.gaierror):
        host = _PORT.sub("", address)
        more = ("Who logs in and at which port is said by ssh_config.",) if set(host) & _MORE else ()
        name = f"Its address {shown(host)}" if host else "Its name"
        return Unreached(Outcome.UNREACHABLE, f"{name} leads nowhere: {error.strerror}.", *more)
    where = f" at {address}" if address else ""
    return Unreached(Outcome.UNREACHABLE, f"It does not answer{where}: {reason(error)}.")


def reason(error: BaseException) -> str:
    """Why, in a few words."""
    if isinstance(error, NoValidConnectionsError):
        first = next(iter(error.errors.values()))
        return reason(first)
    if isinstance(error, TimeoutError):
        return "nothing came in time"
    if isinstance(error, ProxyCommandFailure):
        return f"the ProxyCommand failed: {shown(str(error.error), 200)}"
    if isinstance(error, OSError) and error.errno is not None:
        return _system(error.errno)
    text = str(error)
    if _BANNER in text.lower() or isinstance(error, EOFError):
        return "it ended the connection before a word was said"
    return shown(text.rstrip("."), 200) or type(error).__name__


def _system(number: int) -> str:
    if number == errno.ECONNREFUSED:
        return "nobody listens there"
    return os.strerror(number).lower()
