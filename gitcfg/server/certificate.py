"""The server's TLS certificate, which is replaced without a restart."""

import os
import ssl
from logging import Logger

from gitcfg.model import GitcfgError

CertificateFiles = tuple[str, str]
"""A certificate's file and its key's."""


class Certificate:
    """A certificate that can be renewed: `context` is for listening; new connections get the current one.

    That is in a context of its own: what OpenSSL has loaded halfway is never in use.
    """

    def __init__(
        self, files: CertificateFiles, loaded: ssl.SSLContext, stamps: tuple[object, ...], log: Logger
    ) -> None:
        self.context = loaded
        self._files, self._stamps, self._log = files, stamps, log
        self._current = loaded
        self.context.sni_callback = self._choose

    def reload_if_changed(self) -> None:
        """Read the files again if they have changed."""
        if _stamp_files(self._files) != self._stamps:
            self.reload()

    def reload(self) -> None:
        """Read the files again. If they cannot be used nothing changes, and that is logged once."""
        self._stamps = _stamp_files(self._files)  # first: what changes while they are read is seen
        fields: dict[str, object] = {"files": self._files}
        try:
            self._current = _load_context(self._files)
        except (OSError, ssl.SSLError) as error:
            fields["error"] = str(error)
            self._log.error("the new certificate cannot be used", extra={"fields": fields})
        else:
            self._log.info("the certificate was read anew", extra={"fields": fields})

    def _choose(self, connection: ssl.SSLObject, _name: str, _context: ssl.SSLContext) -> None:
        """Hand the current context to a connection; OpenSSL calls it with and without a server name."""
        connection.context = self._current


def load_certificate(files: CertificateFiles, log: Logger) -> Certificate:
    """Load a certificate and its key. Raise GitcfgError if they cannot be used."""
    stamps = _stamp_files(files)
    try:
        return Certificate(files, _load_context(files), stamps, log)
    except (OSError, ssl.SSLError) as error:
        hint = "Both are PEM; the key has no password."
        raise GitcfgError(f"The certificate cannot be used: {_explain(files, error)}.", hint) from None


def _explain(files: CertificateFiles, error: OSError) -> str:
    """Name the file that cannot be read, which OpenSSL does not do."""
    for file in files:
        try:
            open(file, "rb").close()
        except OSError as unread:
            return f"{file}: {unread.strerror}"
    return f"{' and '.join(files)}: {getattr(error, 'reason', None) or error}"


def _load_context(files: CertificateFiles) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*files, password=_password)
    return context


def _password() -> str:
    """Refuse to ask for a password; OpenSSL would wait for it on the terminal."""
    raise ssl.SSLError("the key has a password")


def _stamp_files(files: CertificateFiles) -> tuple[object, ...]:
    """Return what tells that files were replaced."""
    return tuple(map(_stamp_file, files))


def _stamp_file(file: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
