"""The near end's side of a line: counts what goes over it, and believes nothing that comes."""

from collections.abc import Iterable, Mapping

from gitcfg.deploy.answers import clean
from gitcfg.deploy.messages import Line
from gitcfg.deploy.problems import LineLost, Noisy, Unreadable
from gitcfg.install.remote.protocol import MARK, WireError, encode_message, read_message

_CHUNK = 1 << 16
_NOISE = 1 << 16
"""Bytes that a node's shells may say before the far end speaks."""


class Frames:
    """Messages over a line. `after` is the last step that was heard of, for who loses the line."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._came = b""
        self.sent = 0
        self.received = 0
        self.after = ""

    def send(self, data: bytes) -> None:
        """Bytes as they are."""
        try:
            self._line.send(data)
        except OSError as error:
            raise self.lost(error) from error
        self.sent += len(data)

    def say(self, kind: int, parts: Iterable[bytes]) -> None:
        """A message."""
        for frame in encode_message(kind, parts):
            self.send(frame)

    def say_all(self, *messages: tuple[int, Iterable[bytes]]) -> None:
        """Several small messages, in one piece."""
        self.send(b"".join(frame for kind, parts in messages for frame in encode_message(kind, parts)))

    def receive(self, limits: Mapping[int, int]) -> tuple[int, bytes]:
        """The next message, of a kind that `limits` has."""
        try:
            return read_message(self._take, limits)
        except WireError as error:
            raise Unreadable(str(error)) from error

    def mark(self) -> str:
        """What the far end's next own line says; "" at the end of the line, whatever else was said.

        Noisy: so much else was said that nobody waits for more.
        """
        noise = 0
        while noise <= _NOISE:
            line, found, rest = self._came.partition(b"\n")
            if found:
                noise += len(line) + 1
                self._came = rest
                said = line.decode("ascii", "replace").rpartition(f"{MARK} ")
                if said[1]:
                    return said[2].strip()[:100]
            elif len(self._came) > _NOISE:
                break
            elif not self._more():
                return ""
        raise Noisy()

    def lost(self, why: object = "") -> LineLost:
        """That the line has ended."""
        said = clean(self._line.said().strip()[-500:])
        told = "; ".join(text for text in (str(why), said) if text)
        return LineLost(f"The connection to the node ended{f': {told}' if told else ''}.", after=self.after)

    def _take(self, size: int) -> bytes:
        while len(self._came) < size:
            if not self._more():
                raise self.lost()
        taken, self._came = self._came[:size], self._came[size:]
        return taken

    def _more(self) -> bool:
        try:
            more = self._line.receive(_CHUNK)
        except OSError as error:
            raise self.lost(error) from error
        self.received += len(more)
        self._came += more
        return bool(more)
