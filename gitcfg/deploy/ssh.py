"""Connections over SSH, made by fabric: strict about host keys, with channels that let all bytes through."""

import logging
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import paramiko
from fabric import Config, Connection

from gitcfg.deploy import known_hosts
from gitcfg.deploy.hostkeys import Host
from gitcfg.deploy.known_hosts import HostKey
from gitcfg.deploy.outcomes import Outcome
from gitcfg.deploy.reach import Reaching, Unreached
from gitcfg.deploy.ssh_channel import ChannelLine
from gitcfg.deploy.ssh_jumps import Jumps
from gitcfg.deploy.ssh_keys import Keys
from gitcfg.deploy.ssh_problems import FAILURES, reason, unreached
from gitcfg.deploy.ssh_proxy import Proxy
from gitcfg.deploy.ssh_settings import settings
from gitcfg.deploy.ssh_trust import Trust, all_files

_KEEPALIVE = 15
_PORT = 22
_NONE = "none"
_BRACKETS = re.compile(r"(?:(?P<user>.+)@)?\[(?P<host>[^\]]+)\](?::(?P<port>[0-9]+))?")
"""How ssh writes a host to jump over by its IPv6 address, which fabric takes for a name."""

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # else it writes tracebacks on stderr


class _Connection(Connection):  # type: ignore[misc]
    """fabric's, all of whose attributes are its own.

    It forgets to say so of one. Setting that would change the settings that all threads share, and while that
    is done others find them empty.
    """

    inline_ssh_env: Any = None

    def __setattr__(self, key: str, value: object) -> None:
        """fabric's looks through all attributes first, whether there is such a one: 0.3 ms for each host."""
        object.__setattr__(self, key, value)


class SshConnection:
    """A connection to a node."""

    def __init__(self, connection: Connection, reaching: Reaching) -> None:
        self._connection = connection
        self._reaching = reaching

    @property
    def user(self) -> str:
        """Who is logged in there."""
        return str(self._connection.user)

    def line(self, command: str, deadline: float) -> ChannelLine:
        """Run a command there. Unreached: the host lets nobody run any."""
        try:
            channel = self._connection.transport.open_session(timeout=self._reaching.connect_timeout)
            channel.exec_command(command)
        except FAILURES as error:
            message = f"It lets nobody run a command: {reason(error)}."
            raise Unreached(Outcome.UNREACHABLE, message) from None
        return ChannelLine(channel, deadline, self._reaching.clock)

    def cut(self) -> None:
        """End it at once, from another thread."""
        self._connection.client.close()


class Ssh:
    """Reaches nodes, each by a connection of its own, as ssh_config says."""

    def __init__(self, reaching: Reaching) -> None:
        """GitcfgError: ssh_config cannot be read."""
        self._reaching = reaching
        self._config = Config(ssh_config=settings(reaching.ssh_config))
        self._jumps = Jumps(self._hop, reaching.clock, reaching.connect_timeout)
        self._keys = Keys()
        self._known = lru_cache(maxsize=64)(known_hosts.read)

    @contextmanager
    def open(self, node: str) -> Iterator[SshConnection]:
        """A connection to a node, until its end. Unreached: why there is none."""
        connection = self._connected(node, self._reaching.user, "")
        try:
            yield SshConnection(connection, self._reaching)
        finally:
            connection.client.close()

    def close(self) -> None:
        """End the connections to jump hosts."""
        self._jumps.close()

    def _hop(self, name: str, over: str) -> Connection:
        return self._connected(name, None, over)

    def _connected(self, name: str, user: str | None, over: str) -> Connection:
        try:
            connection = self._unopened(name, user)
        except FAILURES as error:  # a Port that is no number
            message = f"What ssh_config says of it cannot be used: {reason(error)}."
            raise Unreached(Outcome.UNREACHABLE, message) from None
        try:
            self._prepare(connection, over)
            connection.open()
        except FAILURES as error:
            connection.client.close()
            raise unreached(error, _address(connection), connection.user) from None
        connection.transport.set_keepalive(_KEEPALIVE)
        return connection

    def _unopened(self, name: str, user: str | None) -> Connection:
        """Without fabric's own way to other hosts, and its client: both trust every host key."""
        seconds = self._reaching.connect_timeout
        found = _BRACKETS.fullmatch(name)
        host = found["host"] if found else name
        connection = _Connection(
            host,
            user=user or (found["user"] if found else None),
            port=int(found["port"]) if found and found["port"] else None,
            config=self._config,
            gateway=False,
            forward_agent=False,
            connect_timeout=math.ceil(seconds),  # it takes whole seconds, and 0 for no end at all
            connect_kwargs=dict.fromkeys(("banner_timeout", "auth_timeout", "channel_timeout"), seconds),
        )
        connection.client = paramiko.SSHClient()
        if connection.host == host:
            connection.host = self._reaching.addresses.get(host, host)
        return connection

    def _prepare(self, connection: Connection, over: str) -> None:
        """The host keys and the way there; and what fabric does not heed as ssh does."""
        said, arguments = connection.ssh_config, connection.connect_kwargs
        try:
            known = self._known(all_files(said))
        except OSError as error:
            message = f"{error.filename} cannot be read, so no host key is known: {error.strerror}."
            raise Unreached(Outcome.HOST_KEY, message) from None
        trust = Trust(known, self._host(connection), said, self._reaching.accept_new)
        connection.client.set_missing_host_key_policy(trust)
        arguments["transport_factory"] = trust.transport
        arguments.update(self._keys.arguments(said, arguments.pop("key_filename", ())))
        over = over or _jumps(connection)
        if over:
            arguments["sock"] = self._jumps.channel(over, connection.host, int(connection.port))
        elif said.get("proxycommand"):
            arguments["sock"] = Proxy(said["proxycommand"])

    def _host(self, connection: Connection) -> Host:
        text = self._reaching.keys.get(connection.original_host)
        kind, _, body = (text or "").partition(" ")
        node = HostKey(kind, body, "keys/") if body else None
        alias = connection.ssh_config.get("hostkeyalias")
        host, port = (alias, _PORT) if alias else (connection.host, int(connection.port))
        return Host(str(host), port, str(connection.original_host), node)


def _jumps(connection: Connection) -> str:
    """The hosts to jump over; none where the host is one of them, as `Host *` makes it."""
    said = str(connection.ssh_config.get("proxyjump") or _NONE).replace("ssh://", "")
    own = (connection.original_host, connection.host)
    hops = [hop.strip() for hop in said.split(",")]
    names = [
        found["host"] if (found := _BRACKETS.fullmatch(hop)) else _named(connection, hop) for hop in hops
    ]
    return "" if said == _NONE or any(name in own for name in names) else said


def _named(connection: Connection, hop: str) -> str:
    return str(connection.derive_shorthand(hop)["host"])


def _address(connection: Connection) -> str:
    """Where a host is looked for, if that is not what its name says: then many can be told as one."""
    host = "" if connection.host == connection.original_host else str(connection.host)
    port = "" if int(connection.port) == _PORT else f"port {connection.port}"
    return " ".join(filter(None, (host, port)))
