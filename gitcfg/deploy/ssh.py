"""Connections over SSH, made by fabric with the settings of ssh_config: strict about host keys."""

import errno
import logging
import math
import os
import re
import shlex
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from glob import glob
from io import StringIO
from pathlib import Path
from typing import Any

import paramiko
from fabric import Config, Connection
from paramiko import Channel
from paramiko.ssh_exception import (
    AuthenticationException,
    NoValidConnectionsError,
    PasswordRequiredException,
    ProxyCommandFailure,
    SSHException,
)

from gitcfg.deploy.network import ConnectError, ConnectOptions
from gitcfg.deploy.outcomes import Outcome
from gitcfg.deploy.ssh_host_keys import Host, HostKey, Trust, find_files, read_known_hosts
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

_USER, _SYSTEM = "~/.ssh/config", "/etc/ssh/ssh_config"
_DEEPEST = 16
_CERTIFICATE = "-cert.pub"
_PROXY_HINT = "Install the program here, or change the ProxyCommand in ssh_config."
_WRONG = (OSError, ValueError, LookupError, TypeError, AttributeError, paramiko.SSHException)


class Settings(paramiko.SSHConfig):  # type: ignore[misc]
    """The settings of ssh_config."""

    def _does_match(self, match_list: list[Any], *rest: Any) -> Any:
        """Skip an empty list: paramiko looks up the user's name for each `Host`, 20 of 200 us per host."""
        return super()._does_match(match_list, *rest) if match_list else False

    def _tokenize(self, config: Any, target_hostname: str, key: str, value: str) -> Any:
        """Skip a value without tokens, for which paramiko also looks up all tokens: 0.3 ms for each host."""
        has_tokens = "%" in value or "~" in value
        return super()._tokenize(config, target_hostname, key, value) if has_tokens else value


def read_settings(file: str | None) -> Settings:
    """Read a file, or the user's and the system's. Raise GitcfgError if one cannot be read."""
    settings = Settings()
    user = os.path.expanduser(_USER)
    if file is not None and not Path(file).is_file():
        raise GitcfgError(
            f"The file {shown(file)} does not exist.", "`--ssh-config` takes a file as `ssh -F` does."
        )
    for path in (file,) if file is not None else (user, _SYSTEM):
        folder = os.path.dirname(user if path != _SYSTEM else path)
        try:
            if os.path.isfile(path):
                settings.parse(StringIO("\n".join(_read_lines(path, folder, 0))))
                settings.lookup("localhost")
        except _WRONG as error:
            raise GitcfgError(f"Cannot read {path}: {shown(_reason(error).rstrip('.'), 200)}.") from None
    return settings


def _read_lines(path: str, folder: str, depth: int) -> Iterator[str]:
    """Yield a file's lines and those of the files that it includes; then repeat the surrounding block."""
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
                    yield from _read_lines(included, folder, depth + 1)
        yield block


class Proxy(paramiko.ProxyCommand):  # type: ignore[misc]
    """paramiko's, in a session of its own: Ctrl-C would otherwise end it, and running nodes must finish.

    paramiko does not read its standard error, which would block it as soon as a pipe is full.
    """

    def __init__(self, command: str) -> None:
        """Raise ConnectError if there is no such program, or its words cannot be split."""
        self.cmd = _split_command(command)
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        try:
            self.process = subprocess.Popen(
                self.cmd, stdin=pipe, stdout=pipe, stderr=null, bufsize=0, start_new_session=True
            )
        except (OSError, ValueError) as error:
            message = f"Cannot run its ProxyCommand {shown(self.cmd[0])} here: {_reason(error, lower=True)}."
            raise ConnectError(Outcome.UNREACHABLE, message, _PROXY_HINT) from None
        self.timeout = None


def _split_command(command: str) -> list[str]:
    reason = "it is empty"
    try:
        if words := shlex.split(command):
            return words
    except ValueError as error:
        reason = _reason(error, lower=True)
    raise ConnectError(Outcome.UNREACHABLE, f"Cannot parse its ProxyCommand in ssh_config: {reason}.")


def _reason(error: Exception, lower: bool = False) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:] if lower else text


class Keys:
    """The keys of a deploy. paramiko reads a file up to three times for each host: 0.7 ms."""

    def __init__(self) -> None:
        self._read = lru_cache(maxsize=64)(_read_key)

    def arguments(self, options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
        """Return arguments for paramiko's client, without files that do not exist, as ssh does.

        The first key is passed as an object, and tried first. paramiko reads one with a certificate or a
        passphrase, and all keys after it.
        """
        files = [file for file in map(os.path.expanduser, names) if os.path.isfile(file)]
        key = self._read(files[0]) if files else None
        found: dict[str, Any] = {"pkey": key} if key is not None else {}
        rest = files[len(found) :]
        if rest:
            found["key_filename"] = rest
        only = options.get("identitiesonly") == "yes"
        return {**found, **(dict.fromkeys(("allow_agent", "look_for_keys"), False) if only else {})}


def _read_key(file: str) -> paramiko.PKey | None:
    """Return the key in a file; None if paramiko may be able to read it, or to name the problem."""
    if file.endswith(_CERTIFICATE) or os.path.exists(file + _CERTIFICATE):
        return None
    for kind in (paramiko.RSAKey, paramiko.ECDSAKey, paramiko.Ed25519Key):
        try:
            return kind.from_private_key_file(file)
        except (OSError, ValueError, paramiko.SSHException):
            continue
    return None


# Connections over SSH, made by fabric: strict about host keys, with channels that transfer all bytes.

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # otherwise it writes tracebacks to stderr

_KEEPALIVE = 15
_PORT = 22
_NONE = "none"
_BRACKETS = re.compile(r"(?:(?P<user>.+)@)?\[(?P<host>[^\]]+)\](?::(?P<port>[0-9]+))?")
"""The form of a jump host with an IPv6 address in ssh, which fabric takes for a name."""
_HOSTILE = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError),
    struct.error,
)
"""Errors of paramiko at messages that no sshd sends: a problem of that host only."""
FAILURES = (OSError, EOFError, SSHException, ValueError, GitcfgError, *_HOSTILE)
"""All errors that opening a connection may raise."""
_NO_KEY = "No authentication methods available"
_PORT_SUFFIX = re.compile(r" ?port [0-9]+\Z")
_MORE = frozenset("@:/")
"""Characters of addresses that are more than a host."""


def unreached(error: Exception, address: str, user: str) -> ConnectError:
    """Explain a failure to connect as a user to `address`, "" if that is the node's name."""
    if isinstance(error, ConnectError):
        return error
    if isinstance(error, GitcfgError):
        return ConnectError(Outcome.UNREACHABLE, error.message, *error.hints)
    if isinstance(error, PasswordRequiredException):
        hint = "Run `ssh-add` to unlock it in the SSH agent."
        return ConnectError(Outcome.AUTH, "The login key has a passphrase.", hint)
    if isinstance(error, AuthenticationException):
        hint = "Check that `ssh` logs in without a question, or use `--user` for another user."
        return ConnectError(
            Outcome.AUTH, f"The host accepts none of your keys for the user {shown(user)}.", hint
        )
    if str(error).startswith(_NO_KEY):
        message = "You have no login key, neither in a file nor in an SSH agent."
        hint = "Set IdentityFile in ssh_config, or run `ssh-add` to add a key to the agent of SSH_AUTH_SOCK."
        return ConnectError(Outcome.AUTH, message, hint)
    if isinstance(error, socket.gaierror):
        host = _PORT_SUFFIX.sub("", address)
        more = ("Set the user and the port in ssh_config.",) if set(host) & _MORE else ()
        name = f"Its address {shown(host)}" if host else "Its name"
        return ConnectError(Outcome.UNREACHABLE, f"{name} cannot be resolved: {error.strerror}.", *more)
    where = f" at {address}" if address else ""
    return ConnectError(Outcome.UNREACHABLE, f"It does not answer{where}: {reason(error)}.")


def reason(error: BaseException) -> str:
    """Return the reason, in a few words."""
    if isinstance(error, NoValidConnectionsError):
        return reason(next(iter(error.errors.values())))
    if isinstance(error, TimeoutError):
        return "timed out"
    if isinstance(error, ProxyCommandFailure):
        return f"the ProxyCommand failed: {shown(str(error.error), 200)}"
    if isinstance(error, OSError) and error.errno is not None:
        refused = error.errno == errno.ECONNREFUSED
        return "connection refused" if refused else os.strerror(error.errno).lower()
    text = str(error)
    if "banner" in text.lower() or isinstance(error, EOFError):
        return "it closed the connection at once"
    return shown(text.rstrip("."), 200) or type(error).__name__


_KEPT = 8192
_LOOK = 0.02
_STATUS = 5.0
_NO_CODE = -1
"""There is no exit code: a signal ended the process, or the code is unknown."""
_PIECE = 32768


class ChannelLine:
    """A channel on which a command runs. A wait after `deadline` (of the clock) raises TimeoutError."""

    def __init__(self, channel: Channel, deadline: float, clock: Callable[[], float]) -> None:
        self._channel = channel
        self._deadline = deadline
        self._clock = clock
        self._said = b""

    def send(self, data: bytes) -> None:
        """Write all of the data."""
        view = memoryview(data)
        while view:
            self._wait()
            view = view[self._channel.send(view[:_PIECE]) :]

    def receive(self, most: int) -> bytes:
        """Return up to `most` bytes, as soon as there are some; nothing at the end."""
        self._wait()
        data: bytes = self._channel.recv(most)
        self._listen()
        return data

    def waits(self, seconds: float) -> bool:
        """Return whether nothing arrives by then, or sooner if there is output on its standard error."""
        end = self._clock() + seconds
        while not (self._channel.recv_ready() or self._channel.closed or self._channel.eof_received):
            self._wait()
            if self._listen() or self._clock() >= end:
                return True
            time.sleep(_LOOK)
        return False

    def stderr(self) -> str:
        """Return the end of the process's standard error."""
        self._listen()
        return self._said.decode("utf-8", "replace")

    def ended(self) -> int | None:
        """Return the exit code, once the process has ended; it arrives after all output, or never."""
        if self._channel.eof_received or self._channel.closed:
            self._channel.status_event.wait(max(0.0, min(_STATUS, self._deadline - self._clock())))
        code = self._channel.exit_status
        return None if code == _NO_CODE else int(code)

    def _wait(self) -> None:
        left = self._deadline - self._clock()
        if left <= 0:
            raise TimeoutError("time ran out")
        self._channel.settimeout(left)

    def _listen(self) -> bool:
        """Read its standard error; without that, the process would block at some time."""
        heard = False
        while self._channel.recv_stderr_ready():
            piece = self._channel.recv_stderr(_PIECE)
            heard = heard or bool(piece)
            self._said = (self._said + piece)[-_KEPT:]
            if not piece:
                break
        return heard


_CHUNK = 1 << 16
_SEALED = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com")


class BufferedSocket:
    """A socket that reads as much as is there: paramiko reads twice for each packet.

    One system call instead of two or more saves 0.1 of 10 ms for each host.
    """

    def __init__(self, sock: Any) -> None:
        self._sock = sock
        self._pending = b""

    def recv(self, most: int) -> bytes:
        """Return up to `most` bytes, as soon as there are some; nothing at the end."""
        data = self._pending or self._sock.recv(_CHUNK)
        self._pending = data[most:]
        return bytes(data[:most])

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the socket."""
        return getattr(self._sock, name)


class Transport(paramiko.Transport):  # type: ignore[misc]
    """A transport that prefers authenticated ciphers, as OpenSSH does since 10.0.

    With others, paramiko compares the checksum of each packet byte by byte in Python: a quarter of its time.
    """

    def __init__(self, sock: Any, key_types: Sequence[str], **said: Any) -> None:
        super().__init__(BufferedSocket(sock), **said)
        options = self.get_security_options()
        options.ciphers = _put_first(_SEALED, options.ciphers)
        options.key_types = _put_first(key_types, options.key_types)

    def _parse_debug(self, message: Any) -> None:
        """Ignore sshd's message for each option of an authorized key: paramiko formats it byte by byte."""


def _put_first(preferred: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    first = [name for name in preferred if name in known]
    return (*first, *(name for name in known if name not in preferred))


Connect = Callable[[str, str], Connection]
"""Connects to a host over other hosts (`a,b`), or over those of ssh_config if there are none."""


class Jumps:
    """The jump hosts, as ssh_config writes them (`a,b`): a bastion gets one connection, not hundreds.

    `patience` is how many seconds a connection may take to open, and the pause before a failed one is tried
    again.
    """

    def __init__(self, connect: Connect, clock: Callable[[], float], patience: float) -> None:
        self._connect = connect
        self._clock = clock
        self._patience = patience
        self._known: dict[str, _Jump] = {}
        self._lock = threading.Lock()

    def channel(self, hops: str, host: str, port: int) -> Any:
        """Open a channel to a host behind some others. Raise ConnectError if they cannot reach it."""
        before, _, hop = hops.replace(" ", "").rpartition(",")
        with self._lock:
            jump = self._known.setdefault(hops, _Jump(self._clock, self._patience))
        connection = jump.connection(lambda: self._connect(hop, before), hop)
        try:
            return connection.transport.open_channel(
                "direct-tcpip", (host, port), ("", 0), timeout=self._patience
            )
        except (SSHException, OSError, EOFError) as error:
            message = f"The jump host {hop} cannot reach {host}: {reason(error)}."
            raise ConnectError(Outcome.UNREACHABLE, message) from None

    def close(self) -> None:
        """Close all connections."""
        for jump in self._known.values():
            jump.close()


class _Jump:
    """A connection that its first user opens, and that is opened again when it has ended."""

    def __init__(self, clock: Callable[[], float], patience: float) -> None:
        self._clock = clock
        self._patience = patience
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._failed: tuple[float, ConnectError] | None = None

    def connection(self, connect: Callable[[], Connection], hop: str) -> Connection:
        """Return the connection. If it fails, those that wait do not try one after the other."""
        with self._lock:
            if self._connection is not None and self._connection.is_connected:
                return self._connection
            if self._failed is not None and self._clock() - self._failed[0] < self._patience:
                raise self._failed[1]
            try:
                self._connection = connect()
            except ConnectError as error:
                message = f"Cannot use the jump host {hop}. {error.message}"
                failed = ConnectError(error.outcome, message, *error.hints)
                self._failed = self._clock(), failed
                raise failed from None
            return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.client.close()


class _Connection(Connection):  # type: ignore[misc]
    """fabric's connection, which declares all of its attributes.

    fabric does not declare this one. Setting it would change the settings that all threads share, and
    meanwhile other threads would find them empty.
    """

    inline_ssh_env: Any = None

    def __setattr__(self, key: str, value: object) -> None:
        """Set the attribute; fabric first searches all of them for it: 0.3 ms for each host."""
        object.__setattr__(self, key, value)


class SshConnection:
    """A connection to a node."""

    def __init__(self, connection: Connection, options: ConnectOptions) -> None:
        self._connection = connection
        self._options = options

    @property
    def user(self) -> str:
        """The user who is logged in there."""
        return str(self._connection.user)

    def line(self, command: str, deadline: float) -> ChannelLine:
        """Run a command there. Raise ConnectError if the host allows none."""
        try:
            channel = self._connection.transport.open_session(timeout=self._options.connect_timeout)
            channel.exec_command(command)
        except FAILURES as error:
            message = f"It does not allow commands: {reason(error)}."
            raise ConnectError(Outcome.UNREACHABLE, message) from None
        return ChannelLine(channel, deadline, self._options.clock)

    def cut(self) -> None:
        """Close the connection at once, from another thread."""
        self._connection.client.close()


class Ssh:
    """The network over SSH: each node has a connection of its own, as set in ssh_config."""

    def __init__(self, options: ConnectOptions) -> None:
        """Raise GitcfgError if ssh_config cannot be read."""
        self._options = options
        self._config = Config(ssh_config=read_settings(options.ssh_config))
        self._jumps = Jumps(partial(self._connect, user=None), options.clock, options.connect_timeout)
        self._keys = Keys()
        self._known = lru_cache(maxsize=64)(read_known_hosts)

    @contextmanager
    def open(self, node: str) -> Iterator[SshConnection]:
        """Connect to a node. Raise ConnectError if that fails."""
        connection = self._connect(node, "", self._options.user)
        try:
            yield SshConnection(connection, self._options)
        finally:
            connection.client.close()

    def close(self) -> None:
        """Close the connections to jump hosts."""
        self._jumps.close()

    def _connect(self, name: str, over: str, user: str | None) -> Connection:
        try:
            connection = self._make(name, user)
        except FAILURES as error:  # for example, a Port that is not a number
            message = f"Cannot use its settings in ssh_config: {reason(error)}."
            raise ConnectError(Outcome.UNREACHABLE, message) from None
        try:
            self._prepare(connection, over)
            connection.open()
        except FAILURES as error:
            connection.client.close()
            raise unreached(error, _address(connection), connection.user) from None
        connection.transport.set_keepalive(_KEEPALIVE)
        return connection

    def _make(self, name: str, user: str | None) -> Connection:
        """Make it without fabric's own jump hosts and client: both trust every host key."""
        seconds = self._options.connect_timeout
        found = _BRACKETS.fullmatch(name)
        host = found["host"] if found else name
        connection = _Connection(
            host,
            user=user or (found["user"] if found else None),
            port=int(found["port"]) if found and found["port"] else None,
            config=self._config,
            gateway=False,
            forward_agent=False,
            connect_timeout=math.ceil(seconds),  # it takes whole seconds, and 0 for no limit
            connect_kwargs=dict.fromkeys(("banner_timeout", "auth_timeout", "channel_timeout"), seconds),
        )
        connection.client = paramiko.SSHClient()
        if connection.host == host:
            connection.host = self._options.addresses.get(host, host)
        return connection

    def _prepare(self, connection: Connection, over: str) -> None:
        """Set the host keys, the login keys and the way to the host, as ssh does and fabric does not."""
        settings, arguments = connection.ssh_config, connection.connect_kwargs
        try:
            known = self._known(find_files(settings))
        except OSError as error:
            message = f"Cannot read the known host keys in {error.filename}: {error.strerror}."
            raise ConnectError(Outcome.HOST_KEY, message) from None
        trust = Trust(known, self._host(connection), settings, self._options.accept_new)
        connection.client.set_missing_host_key_policy(trust)
        arguments["transport_factory"] = partial(Transport, key_types=trust.key_types())
        arguments.update(self._keys.arguments(settings, arguments.pop("key_filename", ())))
        over = over or _find_jumps(connection)
        if over:
            arguments["sock"] = self._jumps.channel(over, connection.host, int(connection.port))
        elif settings.get("proxycommand"):
            arguments["sock"] = Proxy(settings["proxycommand"])

    def _host(self, connection: Connection) -> Host:
        text = self._options.keys.get(connection.original_host)
        kind, _, body = (text or "").partition(" ")
        node = HostKey(kind, body, "keys/") if body else None
        alias = connection.ssh_config.get("hostkeyalias")
        host, port = (alias, _PORT) if alias else (connection.host, int(connection.port))
        return Host(str(host), port, str(connection.original_host), node)


def _find_jumps(connection: Connection) -> str:
    """Return the jump hosts; none if the host itself is one, as `Host *` may do."""
    jumps = str(connection.ssh_config.get("proxyjump") or _NONE).replace("ssh://", "")
    own = (connection.original_host, connection.host)
    hops = [hop.strip() for hop in jumps.split(",")]
    names = [(_BRACKETS.fullmatch(hop) or connection.derive_shorthand(hop))["host"] for hop in hops]
    return "" if jumps == _NONE or any(name in own for name in names) else jumps


def _address(connection: Connection) -> str:
    """Return the address of a host, "" if it is its name: many equal failures are then reported as one."""
    host = "" if connection.host == connection.original_host else str(connection.host)
    port = "" if int(connection.port) == _PORT else f"port {connection.port}"
    return " ".join(filter(None, (host, port)))
