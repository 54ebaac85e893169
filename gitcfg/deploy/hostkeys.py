"""Is a host who it should be? By the keys that are known of it, and by the node's key in the repository."""

import msgspec

from gitcfg.deploy.known_hosts import HostKey, KnownHosts, named


class Host(msgspec.Struct, frozen=True):
    """A host by what its keys are known by: its address, or else what it is `called`.

    `node` is the node's key in the repository (keys/), which may be its host key, or its agent's own.
    """

    name: str
    port: int
    called: str = ""
    node: HostKey | None = None

    def keys(self, known: KnownHosts) -> tuple[HostKey, ...]:
        """Those that are known of it."""
        return known.keys(self.name, self.port) or known.keys(self.called, self.port)


class Wrong(msgspec.Struct, frozen=True):
    """Why a host is not trusted; `new`: nothing speaks against it but that nobody knows it."""

    message: str
    hints: tuple[str, ...] = ()
    new: bool = False


def judged(known: KnownHosts, host: Host, shown: HostKey) -> Wrong | None:
    """Why a host with this key is not to be trusted; None: it is who it should be."""
    revoked = next((key for key in known.revoked if key.same(shown)), None)
    if revoked is not None:
        return Wrong(f"Its host key {shown.fingerprint} is revoked ({revoked.place}).")
    keys = host.keys(known)
    if any(key.same(shown) for key in keys) or (host.node is not None and host.node.same(shown)):
        return None
    return _another(host, shown, keys) if keys else _unknown(host, shown)


def kinds(known: KnownHosts, host: Host) -> tuple[str, ...]:
    """The kinds of the keys that are known: what the host should be asked to show."""
    keys = host.keys(known) or ((host.node,) if host.node is not None else ())
    return tuple(dict.fromkeys(key.kind for key in keys))


def _another(host: Host, shown: HostKey, keys: tuple[HostKey, ...]) -> Wrong:
    key = next((one for one in keys if one.kind == shown.kind), keys[0])
    same = "" if key.kind == shown.kind else f"{key.kind} "
    return Wrong(
        f"It shows another host key than the one that is known: {shown.kind} {shown.fingerprint} instead of"
        f" {same}{key.fingerprint} ({key.place}).",
        (
            "Somebody else may be answering. If the node was set up anew, compare the key on the node itself,"
            f" and take the old one away: `ssh-keygen -R '{named(host.name, host.port)}'`.",
        ),
    )


def _unknown(host: Host, shown: HostKey) -> Wrong:
    message = f"Its host key is not known: {shown.kind} {shown.fingerprint}."
    if host.node is not None:
        message += f" keys/ has another key of it, {host.node.fingerprint}: its agent's, perhaps."
    return Wrong(
        message,
        (
            "On the node itself `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` shows it.",
            "`ssh` asks whether to trust it; --accept-new trusts whatever is not known, and remembers it.",
        ),
        new=True,
    )
