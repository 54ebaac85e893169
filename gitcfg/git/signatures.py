"""Who signed a commit with an SSH key: ssh-keygen decides, by a list of those who may."""

import base64
import os
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec

from gitcfg.git.envelope import MOST_BYTES, PURPOSE, Envelope, Flaw, envelope
from gitcfg.git.repository import Repository
from gitcfg.git.ssh_keygen import Answer, Question
from gitcfg.model import GitcfgError

_FINGERPRINT = re.compile(r" key (SHA256:[A-Za-z0-9+/=]+)$")
_UNTIMELY = re.compile(r":\d+: key (?:has expired|is not yet valid)\b")
_CERTIFICATE = re.compile(r":\d+: no valid principals found\b")
_UNREAD = re.compile(r":(\d+): (?:missing key|bad options|invalid (?:key|line|options))\b")


class Signed(msgspec.Struct, frozen=True):
    """What a signature is worth: the signer's names, or the flaw; `key` is the key's fingerprint, if any.

    `unread` are lines of the list that could not be read when the key was not found in it.
    """

    signers: tuple[str, ...] = ()
    key: str = ""
    flaw: Flaw | None = None
    unread: tuple[int, ...] = ()


def lines(allowed: bytes) -> frozenset[bytes]:
    """The lines of an allowed_signers file that could name somebody."""
    found = (line.strip() for line in allowed.split(b"\n"))
    return frozenset(line for line in found if line and not line.startswith(b"#"))


class Signers:
    """Those who may sign at a moment, by the lines of an allowed_signers file; `revoked` lists keys that
    may no more. What is found out about a commit is remembered, and what about a key.
    """

    def __init__(self, repository: Repository, allowed: bytes, revoked: Path | None, now: datetime) -> None:
        """GitcfgError: there is no git repository."""
        self._git = repository.git_or_error("nobody signs in it")
        self._allowed = allowed
        self._revoked = revoked
        self._time = f"-Overify-time={now.astimezone(UTC):%Y%m%d%H%M%S}Z"
        self._verdicts: dict[str, Signed] = {}
        self._listed: dict[bytes, tuple[Answer, ...]] = {}
        self._names: dict[bytes, tuple[str, ...]] = {}

    @property
    def nobody(self) -> bool:
        """Has the list no line that could name somebody?"""
        return not lines(self._allowed)

    def of(self, *commits: str) -> tuple[Signed, ...]:
        """Who signed each commit. GitcfgError: it cannot be found out.

        1,000 commits take 8.5 s of CPU, nearly all in ssh-keygen, on as many processors as there are.
        """
        new = [commit for commit in dict.fromkeys(commits) if commit not in self._verdicts]
        if new:
            self._readable()
            try:
                with tempfile.TemporaryDirectory(prefix="gitcfg-signers-") as folder:
                    self._verdicts.update(zip(new, self._judged(Path(folder), new), strict=True))
            except OSError as error:
                where = error.filename or tempfile.gettempdir()
                raise GitcfgError(f"No signature can be judged: {where}: {error.strerror}.") from None
        return tuple(self._verdicts[commit] for commit in commits)

    def _readable(self) -> None:
        """git does without a list of revoked keys that is not there; ssh-keygen takes all for revoked."""
        if self._revoked is None:
            return
        try:
            self._revoked.open("rb").close()
        except OSError as error:
            message = f"gpg.ssh.revocationFile is {str(self._revoked)!r} in git's configuration"
            hint = "No signature counts until the list of revoked keys can be read."
            raise GitcfgError(f"{message}: {error.strerror}.", hint) from None

    def _judged(self, folder: Path, commits: list[str]) -> list[Signed]:
        (folder / "allowed").write_bytes(self._allowed)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
            return list(threads.map(partial(self._signed, folder), commits))

    def _signed(self, folder: Path, commit: str) -> Signed:
        opened = self._opened(commit)
        if isinstance(opened, Flaw):
            return Signed(flaw=opened)
        place = folder / commit
        place.write_bytes(opened.signature)
        question = Question(place, opened.payload, PURPOSE.decode(), folder / "allowed", self._time)
        try:
            return self._accepted(question, opened) or self._refused(question, opened)
        finally:
            place.unlink()

    def _opened(self, commit: str) -> Envelope | Flaw:
        _, size = self._git.odb.read_header(commit)
        return envelope(self._git.read(commit)[1]) if size <= MOST_BYTES else Flaw.LARGE

    def _accepted(self, question: Question, opened: Envelope) -> Signed | None:
        """Of a key one name is enough, once it is known which may sign: one process a commit."""
        known = self._names.get(opened.key, ())
        asked = known[:1] or self._candidates(question, opened)
        answers = {name: question.signed(name, self._revoked) for name in asked}
        names = tuple(name for name, answer in answers.items() if answer.yes)
        if not names:
            return None
        return Signed(self._names.setdefault(opened.key, names), _fingerprint(answers[names[0]]))

    def _candidates(self, question: Question, opened: Envelope) -> tuple[str, ...]:
        """The names in all lines of the list with the key; of authorities' keys in the first."""
        if opened.key not in self._listed:
            self._listed[opened.key] = (question.names(), *self._alone(question, opened))
        said = (name for answer in self._listed[opened.key] if answer.yes for name in answer.said.split("\n"))
        return tuple(name for name in dict.fromkeys(said) if name and not name.startswith("!"))

    def _alone(self, question: Question, opened: Envelope) -> Iterator[Answer]:
        """ssh-keygen tells the names in the first line with a key: each line by itself, where it has more."""
        text = base64.b64encode(opened.key)
        found = [line for line in lines(self._allowed) if text in line]
        place = question.signature.with_suffix(".line")
        for line in sorted(found) if len(found) > 1 else ():
            place.write_bytes(line + b"\n")
            yield msgspec.structs.replace(question, allowed=place).names()

    def _refused(self, question: Question, opened: Envelope) -> Signed:
        whole = question.whole()
        if not whole.yes:
            return Signed(flaw=Flaw.BROKEN)
        key, names = _fingerprint(whole), self._candidates(question, opened)
        if names:
            anyway = self._revoked is not None and any(question.signed(name, None).yes for name in names)
            return Signed(key=key, flaw=Flaw.REVOKED if anyway else Flaw.NAMESPACE)
        why = self._listed[opened.key][0].why
        if _UNTIMELY.search(why):
            return Signed(key=key, flaw=Flaw.UNTIMELY)
        if _CERTIFICATE.search(why):
            return Signed(key=key, flaw=Flaw.CERTIFICATE)
        return Signed(key=key, flaw=Flaw.UNKNOWN, unread=tuple(map(int, _UNREAD.findall(why))))


def _fingerprint(answer: Answer) -> str:
    found = _FINGERPRINT.search(answer.said.split("\n")[0])
    return found.group(1) if found else ""
