"""Certificates that are renewed while the server runs: new connections get the new one, or the old one."""

import logging
import os
import shutil
import signal
import ssl
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gitcfg.model import GitcfgError
from gitcfg.server.application import load_certificate
from tests.server.site import Server, Site, run, until


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two certificates and their keys, and a key with a password."""
    folder = tmp_path_factory.mktemp("certificates")
    for name in ("one", "two"):
        subject = ("-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1")
        words = ("openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "2", *subject)
        run(*words, "-keyout", f"{name}.key", "-out", f"{name}.pem", cwd=folder)
    locked = ("openssl", "pkey", "-in", "two.key", "-aes256", "-passout", "pass:secret", "-out", "locked.key")
    run(*locked, cwd=folder)
    return folder


class Pair:
    """The files that a server is told of."""

    def __init__(self, made: Path, place: Path) -> None:
        self.made = made
        self.cert, self.key = place / "cert.pem", place / "key.pem"
        self.put("one")

    def put(self, cert: str, key: str = "") -> None:
        """Put others in their place, each at once."""
        for source, target in ((f"{cert}.pem", self.cert), (f"{key or cert}.key", self.key)):
            shutil.copy(self.made / source, f"{target}.new")
            os.replace(f"{target}.new", target)

    def serves(self, url: str) -> str:
        """Which certificate a new connection gets."""
        where = urlsplit(url)
        text = ssl.get_server_certificate((where.hostname or "", where.port or 0), timeout=10)
        return {(self.made / f"{name}.pem").read_text(): name for name in ("one", "two")}[text]


def test_a_new_certificate_counts_without_a_restart_and_a_broken_one_never(
    site: Site, made: Path, tmp_path: Path
) -> None:
    site.with_nodes({})
    pair = Pair(made, tmp_path)
    with Server(site, "--tls-cert", str(pair.cert), "--tls-key", str(pair.key)) as server:
        assert pair.serves(server.url) == "one"
        pair.put("two")
        until(lambda: pair.serves(server.url) == "two", server.log)
        errors = ("another's", "nonsense", "gone")
        for number, wrong in enumerate(errors):
            if wrong == "another's":
                pair.put("one", key="two")
            elif wrong == "nonsense":
                pair.cert.write_text("-----BEGIN CERTIFICATE-----\n")
            else:
                pair.key.unlink()
            until(lambda number=number: _failures(server) == number + 1, server.log)
            assert pair.serves(server.url) == "two"
        server.process.send_signal(signal.SIGHUP)
        until(lambda: _failures(server) == len(errors) + 1, server.log)
        assert pair.serves(server.url) == "two"
        pair.put("one")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: pair.serves(server.url) == "one", server.log)
        assert server.stop() == 0


def test_without_tls_sighup_does_no_harm(site: Site) -> None:
    commit = site.with_nodes({})
    with Server(site) as server:
        server.process.send_signal(signal.SIGHUP)
        server.accepted(commit)
        assert server.stop() == 0


@pytest.mark.parametrize(
    ("cert", "key"), [("one", "two"), ("one", "locked"), ("none", "one"), ("one", "none")]
)
def test_one_that_cannot_be_used_is_refused(made: Path, cert: str, key: str) -> None:
    files = (str(made / f"{cert}.pem"), str(made / f"{key}.key"))
    with pytest.raises(GitcfgError, match="Cannot use the certificate"):
        load_certificate(files, logging.getLogger("test"))


def _failures(server: Server) -> int:
    return server.log.read_text().count("cannot use the new certificate")
