"""HTTPS: only to a server whose certificate is trusted and names it."""

import datetime
import ipaddress
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.agent.server import serving
from tests.agent.site import Site


def certificate(folder: Path, host: str) -> Path:
    """A key and a certificate that signs itself, for an address, in one file."""
    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))]), False)
        .sign(key, None)
    )
    file = folder / f"{host}.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(private + made.public_bytes(Encoding.PEM))
    return file


@pytest.fixture
def url(site: Site, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path, getattr(request, "param", "127.0.0.1")))
    with serving(site.book, context) as address:
        yield address


def test_a_trusted_certificate(site: Site, url: str, tmp_path: Path) -> None:
    site.configure(f'ca = "{tmp_path}/127.0.0.1.pem"', server=url)
    site.offer("one\n", "a")
    site.accept()
    done = site.once()
    assert done.returncode == 0, done.stderr
    assert site.world.runs_with("app") == "one\n"


def test_a_certificate_of_nobody_known(site: Site, url: str) -> None:
    site.configure(server=url)
    site.accept()
    done = site.once()
    assert (done.returncode, "certificate verify failed" in done.stderr) == (5, True), done.stderr
    assert site.book.requests == []


@pytest.mark.parametrize("url", ["127.0.0.2"], indirect=True)
def test_a_certificate_for_another_host(site: Site, url: str, tmp_path: Path) -> None:
    site.configure(f'ca = "{tmp_path}/127.0.0.2.pem"', server=url)
    site.accept()
    done = site.once()
    assert (done.returncode, "certificate verify failed" in done.stderr) == (5, True), done.stderr
    assert site.book.requests == []
