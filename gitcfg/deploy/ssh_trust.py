"""Trust in hosts, as paramiko asks for it: every key is judged here, and none is accepted for being new."""

import os
from collections.abc import Mapping
from typing import Any

import paramiko

from gitcfg.deploy import known_hosts
from gitcfg.deploy.hostkeys import Host, Wrong, judged, kinds
from gitcfg.deploy.known_hosts import HostKey, KnownHosts
from gitcfg.deploy.outcomes import Outcome
from gitcfg.deploy.reach import Unreached
from gitcfg.deploy.ssh_transport import Transport

_USER = "~/.ssh/known_hosts ~/.ssh/known_hosts2"
_SYSTEM = "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"
_RSA = ("rsa-sha2-512", "rsa-sha2-256")


class Trust:
    """What is known of one host, as a policy of paramiko, which is told of no known key and so asks for each.

    `said` is what ssh_config says of the host: it may name other files, and nothing that is less strict.
    """

    def __init__(self, known: KnownHosts, host: Host, said: Mapping[str, Any], accept_new: bool) -> None:
        self._known = known
        self._host = host
        self._said = said
        self._accept_new = accept_new

    def transport(self, sock: Any, **said: Any) -> paramiko.Transport:
        """A transport that prefers the kinds of keys that are known: else a host may show another one."""
        made = Transport(sock, **said)
        options = made.get_security_options()
        there = tuple(options.key_types)
        wanted = [kind for one in kinds(self._known, self._host) for kind in _signed(one) if kind in there]
        options.key_types = (*wanted, *(kind for kind in there if kind not in wanted))
        return made

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        """Called with the key that a host has shown and proved to have. Unreached: it is not trusted."""
        shown = HostKey(key.get_name(), key.get_base64())
        wrong = judged(self._known, self._host, shown)
        if wrong is None:
            return
        if not (wrong.new and self._accept_new):
            raise _refused(wrong)
        self._remember(shown)

    def _remember(self, shown: HostKey) -> None:
        file = files(self._said, "userknownhostsfile", _USER)[0]
        name = known_hosts.named(self._host.name, self._host.port)
        if self._said.get("hashknownhosts") == "yes":
            name = known_hosts.hashed(name, os.urandom(20))
        try:
            known_hosts.add(file, name, shown)
        except OSError as error:
            message = f"Its host key is new, and {file} cannot be written: {error.strerror}."
            raise Unreached(Outcome.HOST_KEY, message) from None


def _refused(wrong: Wrong) -> Unreached:
    return Unreached(Outcome.HOST_KEY, wrong.message, *wrong.hints)


def _signed(kind: str) -> tuple[str, ...]:
    """How hosts sign with a key of a kind."""
    return _RSA if kind == "ssh-rsa" else (kind,)


def files(said: Mapping[str, Any], option: str, usual: str) -> tuple[str, ...]:
    """The files that ssh_config names, or the usual ones."""
    named = str(said.get(option) or usual).replace('"', "").split()
    return tuple(os.path.expanduser(name) for name in named if name != "none")


def all_files(said: Mapping[str, Any]) -> tuple[str, ...]:
    """All files that say host keys, for a host of which ssh_config says this."""
    return (*files(said, "userknownhostsfile", _USER), *files(said, "globalknownhostsfile", _SYSTEM))
