"""Root on a node: through sudo, with a password that goes to it over the line, and only when it asks."""

import threading

from gitcfg.deploy.messages import clean
from gitcfg.deploy.network import Patient, Unreached
from gitcfg.deploy.outcomes import Outcome

PROMPT = "gitcfg-asks-for-sudo:"
"""What sudo writes to its standard error where it wants a password, so that none is sent to anything else."""
WITHOUT = ("sudo", "-n")
ASKING = ("sudo", "-S", "-p", PROMPT)
_LOOK = 0.05
_HINT = "It was tried once, since some systems lock an account after a few tries. --ask-sudo asks again."


class Password:
    """One that was asked for once. Where the first node refuses it, it is sent to no other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lock = threading.Lock()
        self._proven = False
        self._refused_by = ""

    def hand(self, line: Patient, node: str) -> None:
        """Hand it to a sudo that asks for it. Unreached: it is not taken, or was not taken elsewhere."""
        with self._lock:
            alone = not self._proven
            if self._refused_by:
                message = f"sudo on {self._refused_by} did not take the password, so it was not sent here."
                raise Unreached(Outcome.SUDO, message)
            if alone:
                self._try(line, node)
        if not alone:
            self._try(line, node)

    def _try(self, line: Patient, node: str) -> None:
        before = line.said().count(PROMPT)
        line.send(f"{self._text}\n".encode())
        while line.waits(_LOOK):
            if line.said().count(PROMPT) > before:
                break
        else:
            if line.ended() in (None, 0):
                self._proven = True
                return
        if not self._proven:
            self._refused_by = node
        said = clean(line.said().replace(PROMPT, "").strip()[-500:])
        told = f" It says: {said}" if said else ""  # also of whom it knows, and may not be root
        raise Unreached(Outcome.SUDO, f"sudo did not take the password.{told}", _HINT)


class SudoLine:
    """A line behind a sudo that may ask for a password, at once or after what a shell says first."""

    def __init__(self, line: Patient, password: Password, node: str) -> None:
        self._line = line
        self._password = password
        self._node = node
        self._asked = False

    def send(self, data: bytes) -> None:
        """Write all of it."""
        self._line.send(data)

    def receive(self, most: int) -> bytes:
        """At most that many bytes; what sudo asks for is answered before."""
        while not self._asked and self._line.waits(_LOOK):
            if PROMPT in self._line.said():
                self._asked = True
                self._password.hand(self._line, self._node)
        return self._line.receive(most)

    def said(self) -> str:
        """Return the end of what it wrote to its standard error, but for what sudo asked."""
        return self._line.said().replace(PROMPT, "")

    def ended(self) -> int | None:
        """Return its exit code, once it is over."""
        return self._line.ended()
