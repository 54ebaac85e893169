"""ssh-keygen, which knows about signatures what there is to know."""

import os
import subprocess
from pathlib import Path

import msgspec

from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

SECONDS = 10.0
_NO = ("No principal matched.", "Could not verify signature.")
_HINT = "No commit counts as signed until it answers: OpenSSH 8.8 or later must be there."


class Answer(msgspec.Struct, frozen=True):
    """Whether it says yes, what it says, and what it says of why not."""

    yes: bool
    said: str
    why: str


class Question(msgspec.Struct, frozen=True):
    """A signature in a file, what was signed, who may sign for which purpose, and at which time."""

    signature: Path
    payload: bytes
    purpose: str
    allowed: Path
    time: str

    def whole(self) -> Answer:
        """Is it one of what was signed, whoever signed?"""
        return self._judged("check-novalidate")

    def names(self) -> Answer:
        """Who may have signed at that time: the names in the first line of the list with the key."""
        return ask("find-principals", "-s", str(self.signature), "-f", str(self.allowed), self.time)

    def signed(self, name: str, revoked: Path | None) -> Answer:
        """Is it whole, of somebody of that name who may sign, and of a key that is not revoked?"""
        less = ("-r", str(revoked)) if revoked is not None else ()
        return self._judged("verify", "-f", str(self.allowed), self.time, "-I", name, *less)

    def _judged(self, *words: str) -> Answer:
        place = str(self.signature)
        answer = ask(*words, "-n", self.purpose, "-s", place, given=self.payload)
        if answer.yes and not answer.said.startswith(f'Good "{self.purpose}" signature '):
            raise _neither(answer.said)
        return answer


def ask(*words: str, given: bytes = b"") -> Answer:
    """`ssh-keygen -Y WORDS`. GitcfgError: it says neither yes nor no.

    Dates without a `Z` in a list of signers are UTC's, so that it says the same on all machines.
    """
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
    call = ["ssh-keygen", "-Y", *words]
    try:
        done = subprocess.run(
            call, input=given, capture_output=True, check=False, timeout=SECONDS, env=environment
        )
    except subprocess.TimeoutExpired:
        raise GitcfgError(f"ssh-keygen did not judge a signature within {SECONDS:g} s.", _HINT) from None
    except OSError as error:
        raise GitcfgError(f"ssh-keygen cannot be started: {error.strerror}.", _HINT) from None
    said, why = (os.fsdecode(told) for told in (done.stdout, done.stderr))
    if done.returncode and not any(word in said or word in why for word in _NO):
        raise _neither(why.strip() or said)
    return Answer(not done.returncode, said, why)


def _neither(words: str) -> GitcfgError:
    first = words.strip().split("\n")[0] or "it says nothing"
    return GitcfgError(f"ssh-keygen cannot judge a signature: {shown(first, most=300)}.", _HINT)
