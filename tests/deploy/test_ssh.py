"""Connections to real sshds: who is let in, who is trusted, and what passes."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitcfg.deploy.network import ASKING, PROMPT, ConnectError, ConnectOptions, Password, SudoLine
from gitcfg.deploy.outcomes import Outcome
from gitcfg.deploy.ssh import Ssh, read_settings
from gitcfg.model import GitcfgError
from tests.system.sshd import Sshd, sshd, user

ENTER = """#!/bin/sh
echo "$SSH_CONNECTION" >> {folder}/connections
exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"
"""
SETTINGS = """
Host *
  Port {port}
  User {user}
  IdentityFile {key}
  IdentityFile {folder}/not-there
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
"""
SUDO = """#!/bin/sh
[ "$1" = -n ] && exit 1
printf '%s' "$3" >&2
read -r said
[ "$said" = right ] || {{ echo "Sorry, try again." >&2; printf '%s' "$3" >&2; read -r said; exit 1; }}
shift 3
exec "$@"
"""


class Place:
    """Sshds on two addresses, and the settings that reach them."""

    def __init__(self, folder: Path, listening: Sshd) -> None:
        self.folder, self.sshd = folder, listening
        self.here, self.there = listening.addresses[:2]
        self.config = folder / "config"
        self.known_hosts = folder / "known_hosts"

    def ssh(self, more: str = "", known: str | None = None, **said: object) -> Ssh:
        """What reaches hosts; `more` goes before the settings for all."""
        usual = {"port": self.sshd.port, "user": user(), "key": self.sshd.keys.user, "folder": self.folder}
        self.config.write_text(more + SETTINGS.format(**usual))
        both = self.sshd.known(self.here) + self.sshd.known(self.there)
        self.known_hosts.write_text(both if known is None else known)
        return Ssh(ConnectOptions(time.monotonic, str(self.config), connect_timeout=5.0, **said))  # type: ignore[arg-type]

    def refused(self, ssh: Ssh, host: str) -> ConnectError:
        with pytest.raises(ConnectError) as raised, ssh.open(host):
            pass
        return raised.value

    def runs(self, ssh: Ssh, host: str, command: str = "echo $SSH_CONNECTION") -> str:
        with ssh.open(host) as opened:
            line = opened.line(command, time.monotonic() + 20)
            found = b""
            while more := line.receive(1000):
                found += more
            assert line.ended() == 0
            return found.decode()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("ssh")
    enter = folder / "enter"
    enter.write_text(ENTER.format(folder=folder))
    enter.chmod(0o755)
    with sshd(folder, ("127.0.0.1", "127.0.0.2"), enter) as listening:
        yield Place(folder, listening)


def test_all_bytes_pass_in_both_directions(place: Place) -> None:
    data = bytes(range(256)) * 3000
    with place.ssh().open(place.here) as opened:
        assert opened.user == user()
        line = opened.line(f"head -c {len(data)}; echo said >&2; exit 3", time.monotonic() + 20)
        line.send(data)
        found = b""
        while more := line.receive(1 << 16):
            found += more
        assert found == data
        assert line.ended() == 3
        assert line.stderr() == "said\n"


def test_much_that_is_said_on_stderr_stops_nobody(place: Place) -> None:
    with place.ssh().open(place.here) as opened:
        line = opened.line("head -c 5000000 /dev/zero | tr '\\0' x >&2; echo end", time.monotonic() + 20)
        while line.waits(1):
            pass
        assert line.receive(100) == b"end\n"
        assert 0 < len(line.stderr()) <= 8192


def test_waiting_ends(place: Place) -> None:
    with place.ssh().open(place.here) as opened:
        line = opened.line("sleep 30", time.monotonic() + 0.2)
        with pytest.raises(TimeoutError):
            line.receive(1)
        with pytest.raises(TimeoutError):
            line.send(b"x")


def test_a_connection_that_is_cut_ends_all_waiting(place: Place) -> None:
    with place.ssh().open(place.here) as opened:
        line = opened.line("sleep 30", time.monotonic() + 30)
        opened.cut()
        assert line.receive(1) == b""
        assert line.ended() is None


def test_a_host_that_nobody_knows_is_not_trusted(place: Place) -> None:
    error = place.refused(place.ssh(known=""), place.here)
    assert error.outcome is Outcome.HOST_KEY
    assert error.message.startswith("Its host key is not known: ssh-ed25519 SHA256:")
    assert place.known_hosts.read_text() == ""


def test_a_host_with_another_key_is_not_trusted_even_where_new_ones_are(place: Place) -> None:
    known = place.sshd.known(place.here, wrong=True)
    error = place.refused(place.ssh(known=known, accept_new=True), place.here)
    assert error.outcome is Outcome.HOST_KEY
    assert error.message.startswith("Its host key has changed")
    assert place.known_hosts.read_text() == known


def test_new_hosts_are_trusted_and_remembered_where_that_is_wanted(place: Place) -> None:
    place.runs(place.ssh(known="", accept_new=True), place.here)
    assert place.known_hosts.read_text() == place.sshd.known(place.here)
    hashed = f"Host {place.there}\n  HashKnownHosts yes\n"
    place.runs(place.ssh(hashed, known="", accept_new=True), place.there)
    kept = place.known_hosts.read_text()
    assert kept.startswith("|1|")
    place.runs(place.ssh(known=kept), place.there)


def test_what_ssh_config_says_makes_it_no_less_strict(place: Place) -> None:
    loose = "Host *\n  StrictHostKeyChecking no\n"
    assert place.refused(place.ssh(loose, known=""), place.here).outcome is Outcome.HOST_KEY


def test_the_nodes_key_in_the_repository_is_known(place: Place) -> None:
    key = " ".join(place.sshd.keys.host.with_suffix(".pub").read_text().split()[:2])
    place.runs(place.ssh(known="", keys={place.here: key}), place.here)
    assert place.known_hosts.read_text() == ""
    error = place.refused(place.ssh(known="", keys={"another": key}), place.here)
    assert error.outcome is Outcome.HOST_KEY


def test_who_has_no_key_that_fits_is_not_let_in(place: Place) -> None:
    other = f"Host *\n  IdentityFile {place.sshd.keys.wrong}\n"
    ssh = place.ssh(other)
    place.config.write_text(place.config.read_text().replace(f"IdentityFile {place.sshd.keys.user}", ""))
    error = place.refused(Ssh(ConnectOptions(time.monotonic, str(place.config))), place.here)
    assert error.outcome is Outcome.AUTH
    assert user() in error.message
    ssh.close()


def test_nobody_listens_there(place: Place) -> None:
    with socket.socket() as taken:
        taken.bind((place.here, 0))
        error = place.refused(
            place.ssh(f"Host n1\n  HostName {place.here}\n  Port {taken.getsockname()[1]}\n"), "n1"
        )
    assert error.outcome is Outcome.UNREACHABLE
    assert error.message.startswith(f"It does not answer at {place.here} port ")
    assert error.message.endswith(": connection refused.")


def test_who_listens_and_says_nothing(place: Place) -> None:
    with socket.socket() as silent:
        silent.bind((place.here, 0))
        silent.listen()
        place.ssh(f"Host n1\n  HostName {place.here}\n  Port {silent.getsockname()[1]}\n")
        ssh = Ssh(ConnectOptions(time.monotonic, str(place.config), connect_timeout=0.5))
        begun = time.monotonic()
        error = place.refused(ssh, "n1")
    assert error.outcome is Outcome.UNREACHABLE
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    "says",
    [
        b"",
        b"SSH-2.0-x\r\n",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"SSH-2.0-x\r\n" + b"\xff" * 4096,
        b"SSH-2.0-x\r\n\0\0\0\x0c\x0a\x14" + b"\0" * 64,
        b"SSH-2.0-x\r\n\0\0\0\x2c\x06\x14" + b"\0" * 16 + b"\xff" * 64,
    ],
)
def test_who_speaks_no_ssh_is_only_its_own_trouble(place: Place, says: bytes) -> None:
    with socket.socket() as strange:
        strange.bind((place.here, 0))
        strange.listen()

        def speak() -> None:
            with strange.accept()[0] as other:
                other.sendall(says)
                other.recv(4096)

        thread = threading.Thread(target=speak)
        thread.start()
        ssh = place.ssh(f"Host n1\n  HostName {place.here}\n  Port {strange.getsockname()[1]}\n")
        error = place.refused(ssh, "n1")
        thread.join()
    assert error.outcome is Outcome.UNREACHABLE
    assert error.message.startswith(f"It does not answer at {place.here} port ")


def test_a_name_that_is_no_address(place: Place) -> None:
    error = place.refused(place.ssh(), "no-such-name.invalid")
    assert error.outcome is Outcome.UNREACHABLE
    assert error.message.startswith("Its name cannot be resolved: ")


def test_a_node_is_where_the_repository_or_ssh_config_says(place: Place) -> None:
    addresses = {"n1": place.there}
    assert place.runs(place.ssh(addresses=addresses), "n1").split()[2] == place.there
    elsewhere = f"Host n1\n  HostName {place.here}\n"
    assert place.runs(place.ssh(elsewhere, addresses=addresses), "n1").split()[2] == place.here


def test_nodes_behind_a_jump_host_share_its_connection(place: Place) -> None:
    ssh = place.ssh(f"Host n1 n2\n  HostName {place.there}\n  ProxyJump {place.here}\n")
    with ssh.open("n1") as one, ssh.open("n2") as two:
        ports = set()
        for opened in (one, two):
            line = opened.line("echo $SSH_CONNECTION", time.monotonic() + 20)
            said = line.receive(1000).decode().split()
            assert said[2] == place.there
            ports.add(said[1])
        assert len(ports) == 2
        (jump,) = ssh._jumps._known.values()
        first = jump._connection
    assert place.runs(ssh, "n1")
    assert jump._connection is first
    ssh.close()
    assert first is not None
    assert not first.is_connected
    assert place.runs(ssh, "n1")
    ssh.close()


def test_jumps_over_several_and_by_the_jump_hosts_own_settings(place: Place) -> None:
    chain = f"Host n1\n  ProxyJump {place.here},second\nHost n1 second\n  HostName {place.there}\n"
    ssh = place.ssh(chain)
    assert place.runs(ssh, "n1")
    assert sorted(ssh._jumps._known) == sorted([place.here, f"{place.here},second"])
    ssh.close()
    ssh = place.ssh(f"Host n1\n  HostName {place.there}\n  ProxyJump ssh://{place.here}:{place.sshd.port}\n")
    assert place.runs(ssh, "n1")
    ssh.close()
    nested = f"Host n1\n  HostName {place.there}\n  ProxyJump middle\nHost middle\n  HostName {place.there}\n"
    ssh = place.ssh(f"{nested}  ProxyJump {place.here}\n")
    assert place.runs(ssh, "n1")
    ssh.close()


def test_a_jump_host_must_be_trusted_too(place: Place) -> None:
    settings = f"Host n1\n  HostName {place.there}\n  ProxyJump {place.here}\n"
    error = place.refused(place.ssh(settings, known=place.sshd.known(place.there)), "n1")
    assert error.outcome is Outcome.HOST_KEY
    assert error.message.startswith(f"Cannot use the jump host {place.here}. Its host key is not known")


def test_what_is_behind_a_jump_host_may_not_answer(place: Place) -> None:
    ssh = place.ssh(
        f"Host n1\n  HostName {place.there}\n  Port 1\n  ProxyJump {place.here}:{place.sshd.port}\n"
    )
    error = place.refused(ssh, "n1")
    ssh.close()
    assert error.outcome is Outcome.UNREACHABLE
    assert error.message.startswith(
        f"The jump host {place.here}:{place.sshd.port} cannot reach {place.there}"
    )


def test_a_jump_host_for_all_is_not_its_own(place: Place) -> None:
    ssh = place.ssh(f"Host *\n  ProxyJump {place.here}\n")
    assert place.runs(ssh, place.there)
    ssh.close()


def test_a_proxy_command(place: Place) -> None:
    key, known = place.sshd.keys.user, place.known_hosts
    words = f"ssh -F none -i {key} -o UserKnownHostsFile={known} -p {place.sshd.port} -W %h:%p"
    words = f"{words} {user()}@{place.here}"
    assert place.runs(place.ssh(f"Host n1\n  HostName {place.there}\n  ProxyCommand {words}\n"), "n1")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-nc %h %p", "Cannot run its ProxyCommand no-such-nc here: no such file or directory."),
        ("/ %h", "Cannot run its ProxyCommand / here: permission denied."),
        ("nc '%h", "Cannot parse its ProxyCommand in ssh_config: no closing quotation."),
    ],
)
def test_a_proxy_command_that_cannot_be_run_is_named(place: Place, command: str, said: str) -> None:
    error = place.refused(place.ssh(f"Host n1\n  HostName {place.there}\n  ProxyCommand {command}\n"), "n1")
    assert (error.outcome, error.message) == (Outcome.UNREACHABLE, said)


def test_settings_may_be_in_other_files(place: Place, tmp_path: Path) -> None:
    inner = tmp_path / "inner.conf"
    inner.write_text(f"Host n1\n  HostName {place.here}\n")
    ssh = place.ssh(f"Host n2\n  Include {inner}\n  HostName {place.there}\nInclude {tmp_path}/none*\n")
    assert place.runs(ssh, "n1").split()[2] == place.here
    assert place.runs(ssh, "n2").split()[2] == place.there


def test_settings_of_one_host_that_cannot_be_meant_are_its_own_trouble(place: Place) -> None:
    with (
        pytest.raises(ConnectError, match=r"Cannot use its settings in ssh_config: .*abc") as found,
        place.ssh("Host n1\n  Port abc\n").open("n1"),
    ):
        pass
    assert found.value.outcome is Outcome.UNREACHABLE


def test_settings_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(GitcfgError, match="does not exist"):
        read_settings(str(tmp_path / "none"))
    wrong = tmp_path / "wrong"
    wrong.write_text("Host n1\n  nonsense\n")
    with pytest.raises(GitcfgError, match="wrong: Unparsable line"):
        read_settings(str(wrong))


def sudo(place: Place, password: Password, node: str) -> str:
    """What comes of a command behind a sudo that wants `right`; a shell says something before."""
    program = place.folder / "sudo"
    program.write_text(SUDO.format())
    program.chmod(0o755)
    with place.ssh().open(place.here) as opened:
        words = (
            f"echo hello; {program} {' '.join(ASKING[1:])} /bin/sh -c 'echo ready; echo $0 $(head -c 4)' in"
        )
        line = SudoLine(opened.line(words, time.monotonic() + 20), password, node)
        found = b""
        while more := line.receive(1000):
            found += more
            if b"ready" in more:
                line.send(b"data")
        assert PROMPT not in line.stderr()
        return found.decode()


def test_sudo_gets_its_password_when_it_asks(place: Place) -> None:
    password = Password("right")
    assert sudo(place, password, "n1") == "hello\nready\nin data\n"
    assert sudo(place, password, "n2") == "hello\nready\nin data\n"


def test_a_password_that_is_refused_is_sent_nowhere_else(place: Place) -> None:
    password = Password("wrong")
    with pytest.raises(ConnectError, match=r"sudo rejected the password[.] Its output: .*try again") as first:
        sudo(place, password, "n1")
    with pytest.raises(ConnectError, match="sudo on n1 rejected the password, so it was not sent here"):
        sudo(place, password, "n2")
    assert first.value.outcome is Outcome.SUDO
