"""Host keys as OpenSSH keeps them: what its own program writes is read, and what is written it finds."""

import subprocess
from pathlib import Path

import pytest

from gitcfg.deploy.ssh_host_keys import (
    Host,
    HostKey,
    add_host_key,
    find_kinds,
    format_host,
    hash_host,
    judge_host_key,
    read_known_hosts,
)

ONE = HostKey("ssh-ed25519", "AAAAC3NzaC1lZDI1NTE5AAAAIAW27J6wYCXoixvf2Vq4e+1Bptrpwb/IrPfmgHK4eApP")
TWO = HostKey("ssh-ed25519", "AAAAC3NzaC1lZDI1NTE5AAAAIHbm05QcLkl5a8E1OEFiXTvpQP2gyGVZBSnZn8cemPTi")
RSA = HostKey("ssh-rsa", "AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7")


def line(hosts: str, key: HostKey) -> str:
    return f"{hosts} {key.kind} {key.body} a comment\n"


def found(tmp_path: Path, text: str, host: str, port: int = 22) -> list[str]:
    file = tmp_path / "known_hosts"
    file.write_text(text)
    return [key.body for key in read_known_hosts([str(file), str(tmp_path / "none")]).keys(host, port)]


@pytest.mark.parametrize(
    ("hosts", "host", "port", "fits"),
    [
        ("n1", "n1", 22, True),
        ("N1,10.0.0.1", "n1", 22, True),
        ("n1,10.0.0.1", "10.0.0.1", 22, True),
        ("n1", "n11", 22, False),
        ("[n1]:2222", "n1", 2222, True),
        ("[n1]:2222", "n1", 22, False),
        ("n1", "n1", 2222, True),
        ("*.example.com", "a.example.com", 22, True),
        ("*.example.com,!b.example.com", "b.example.com", 22, False),
        ("n?", "n1", 22, True),
        (hash_host("n1", b"12345678901234567890"), "n1", 22, True),
        (hash_host("n1", b"12345678901234567890"), "n2", 22, False),
        (hash_host("[n1]:2222", b"12345678901234567890"), "n1", 2222, True),
        ("|1|no|base64!", "n1", 22, False),
    ],
)
def test_whom_a_line_is_about(tmp_path: Path, hosts: str, host: str, port: int, fits: bool) -> None:
    assert found(tmp_path, line(hosts, ONE), host, port) == ([ONE.body] if fits else [])


def test_what_is_no_line_is_passed_over(tmp_path: Path) -> None:
    text = f"\n# n1\nn1\n@cert-authority {line('*', TWO)}\xff n1\n{line('n1', ONE)}"
    assert found(tmp_path, text, "n1") == [ONE.body]


def test_what_ssh_keygen_hashes_is_found(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(line("n1", ONE) + line("[n2]:2222", TWO))
    subprocess.run(["ssh-keygen", "-H", "-f", str(file)], check=True, capture_output=True)
    assert "n1" not in file.read_text()
    known = read_known_hosts([str(file)])
    assert [key.body for key in known.keys("n1", 22)] == [ONE.body]
    assert [key.body for key in known.keys("n2", 2222)] == [TWO.body]


@pytest.mark.parametrize("before", ["", "x ssh-ed25519 AAAA\n", "x ssh-ed25519 AAAA"])
def test_what_is_added_ssh_keygen_finds(tmp_path: Path, before: str) -> None:
    file = tmp_path / "new/known_hosts"
    file.parent.mkdir()
    file.write_text(before)
    add_host_key(str(file), format_host("n1", 2222), ONE)
    add_host_key(str(file), hash_host("n2", b"x" * 20), TWO)
    for name, key in (("[n1]:2222", ONE), ("n2", TWO)):
        done = subprocess.run(["ssh-keygen", "-F", name, "-f", str(file)], capture_output=True, text=True)
        assert key.body in done.stdout
    assert file.read_text().startswith(before)


def test_a_fingerprint_is_as_ssh_keygen_shows_it(tmp_path: Path) -> None:
    file = tmp_path / "key.pub"
    file.write_text(f"{ONE.kind} {ONE.body}\n")
    done = subprocess.run(["ssh-keygen", "-l", "-f", str(file)], capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] == ONE.fingerprint


def known(tmp_path: Path, text: str, host: Host, shown: HostKey) -> str:
    file = tmp_path / "known_hosts"
    file.write_text(text)
    wrong = judge_host_key(read_known_hosts([str(file)]), host, shown)
    return "" if wrong is None else f"{'new' if wrong.new else 'wrong'}: {wrong.message}"


def test_who_is_known_is_trusted_and_nobody_else(tmp_path: Path) -> None:
    host = Host("n1", 22)
    assert known(tmp_path, line("n1", ONE), host, ONE) == ""
    assert known(tmp_path, line("n1", TWO) + line("n1", ONE), host, ONE) == ""
    assert known(tmp_path, "", host, ONE) == f"new: Its host key is not known: ssh-ed25519 {ONE.fingerprint}."
    wrong = known(tmp_path, line("n1", TWO), host, ONE)
    assert wrong.startswith("wrong: Its host key has changed")
    assert f"{tmp_path}/known_hosts:1" in wrong
    assert ONE.fingerprint in wrong
    assert TWO.fingerprint in wrong
    assert known(tmp_path, line("n1", RSA), host, ONE).startswith("wrong: ")


def test_the_nodes_own_key_in_the_repository_is_trusted(tmp_path: Path) -> None:
    host = Host("n1", 22, "n1", ONE)
    assert known(tmp_path, "", host, ONE) == ""
    assert known(tmp_path, line("n1", TWO), host, ONE) == ""
    agents = known(tmp_path, "", host, TWO)
    assert agents.startswith("new: ")
    assert f"keys/ has another key of it, {ONE.fingerprint}" in agents
    assert known(tmp_path, line("n1", RSA), host, TWO).startswith("wrong: ")


def test_a_host_may_be_known_by_its_name_or_by_its_address(tmp_path: Path) -> None:
    host = Host("10.0.0.1", 22, "n1")
    assert known(tmp_path, line("n1", ONE), host, ONE) == ""
    assert known(tmp_path, line("10.0.0.1", ONE) + line("n1", TWO), host, ONE) == ""
    assert known(tmp_path, line("10.0.0.1", TWO) + line("n1", ONE), host, ONE).startswith("wrong: ")


def test_a_revoked_key_is_trusted_by_nobody(tmp_path: Path) -> None:
    text = f"@revoked {line('*', ONE)}{line('n1', ONE)}"
    assert known(tmp_path, text, Host("n1", 22, "n1", ONE), ONE).startswith("wrong: Its host key")


def test_the_kinds_of_known_keys_are_asked_for_first(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(line("n1", RSA) + line("n1", ONE))
    both = read_known_hosts([str(file)])
    assert find_kinds(both, Host("n1", 22)) == ("ssh-rsa", "ssh-ed25519")
    assert find_kinds(both, Host("n2", 22, "n2", ONE)) == ("ssh-ed25519",)
    assert find_kinds(both, Host("n2", 22)) == ()
