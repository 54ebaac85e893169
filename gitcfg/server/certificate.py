"""The server's certificate: files that take another one's place count for connections from then on."""

import os
import ssl
from logging import Logger

from gitcfg.model import GitcfgError

Files = tuple[str, str]
"""A certificate's file and its key's."""


class Certificate:
    """`context` is what one listens with; each connection gets the certificate that counts by then.

    That is in a context of its own: what OpenSSL has loaded halfway is never in use.
    """

    def __init__(self, files: Files, loaded: ssl.SSLContext, stamps: tuple[object, ...], log: Logger) -> None:
        self.context = loaded
        self._files, self._stamps, self._log = files, stamps, log
        self._current = loaded
        self.context.sni_callback = self._choose

    def look(self) -> None:
        """Read the files anew if they are not those that were read."""
        if _stamps(self._files) != self._stamps:
            self.read()

    def read(self) -> None:
        """Read the files anew. Those that cannot be used change nothing, and are told once."""
        self._stamps = _stamps(self._files)  # first: what changes while they are read is seen
        said: dict[str, object] = {"files": self._files}
        try:
            self._current = _loaded(self._files)
        except (OSError, ssl.SSLError) as error:
            said["error"] = str(error)
            self._log.error("the new certificate cannot be used", extra={"said": said})
        else:
            self._log.info("the certificate was read anew", extra={"said": said})

    def _choose(self, connection: ssl.SSLObject, _name: str, _context: ssl.SSLContext) -> None:
        """OpenSSL asks for every connection, whether or not it names a server."""
        connection.context = self._current


def certificate(files: Files, log: Logger) -> Certificate:
    """The certificate that two files hold. GitcfgError: it cannot be used."""
    stamps = _stamps(files)
    try:
        return Certificate(files, _loaded(files), stamps, log)
    except (OSError, ssl.SSLError) as error:
        hint = "Both are PEM; the key has no password."
        raise GitcfgError(f"The certificate cannot be used: {_why(files, error)}.", hint) from None


def _why(files: Files, error: OSError) -> str:
    """What is wrong: OpenSSL does not say which file it cannot read."""
    for file in files:
        try:
            open(file, "rb").close()
        except OSError as unread:
            return f"{file}: {unread.strerror}"
    return f"{' and '.join(files)}: {getattr(error, 'reason', None) or error}"


def _loaded(files: Files) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*files, password=_password)
    return context


def _password() -> str:
    """Else OpenSSL asks for it on the terminal, and waits."""
    raise ssl.SSLError("the key has a password")


def _stamps(files: Files) -> tuple[object, ...]:
    """By what it is seen that files are others."""
    return tuple(map(_stamp, files))


def _stamp(file: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
