"""The signers of commits with SSH keys: `ssh-keygen -Y` decides, by an allowed_signers file.

git's library cannot verify signatures, so the signature is extracted from the commit here.
"""

import base64
import binascii
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from io import BytesIO
from pathlib import Path

import msgspec

from gitcfg.git.repository import Repository
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

MOST_BYTES = 1 << 20
"""The maximum size of a commit, as of files: one of a gigabyte would fill the memory."""
PURPOSE = b"git"
"""The purpose of git's signatures: one for another purpose is not a signature of a commit."""
_BEGIN, _END = b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----"
_MAGIC = b"SSHSIG\0\0\0\1"
_FIELDS = (b"gpgsig", b"gpgsig-sha256")


class Flaw(Enum):
    """Why a signature does not count, as the end of a sentence after `COMMIT is` or `COMMITS are`."""

    NONE = "not signed"
    FOREIGN = "not signed with an SSH key"
    LARGE = "larger than 1 MiB"
    BROKEN = "not what was signed"
    PURPOSE = "signed as something other than a commit"
    UNKNOWN = "signed with a key that may not sign"
    UNTIMELY = "signed with a key that may not sign at this time"
    CERTIFICATE = "signed with a certificate that is not valid"
    NAMESPACE = "signed with a key that may not sign commits"
    REVOKED = "signed with a key that was revoked"


class Envelope(msgspec.Struct, frozen=True):
    """The signed text, the signature for ssh-keygen, and the public key that the signature names."""

    payload: bytes
    signature: bytes
    key: bytes


def parse_envelope(raw: bytes) -> Envelope | Flaw:
    """Split a commit as git does: neither its signature nor one for SHA-256 is part of the signed text.

    What git accepts leniently is BROKEN: two signatures, one before the commit's own lines, one with any text
    beside it. git's library cannot be used: it ends a text at a NUL, so that there could be more text after
    it, and it accepts a signature in the message.
    """
    found, payload = _split_signatures(raw)
    if not found:
        return Flaw.NONE
    place, signature = found[0]
    if not signature.startswith(_BEGIN):
        return Flaw.FOREIGN
    if len(found) > 1 or b"\ncommitter " not in payload[:place]:
        return Flaw.BROKEN
    return _parse_signature(signature.rstrip(), payload)


def _split_signatures(raw: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
    """Return each signature with its position in the rest, and the rest."""
    end = raw.find(b"\n\n") + 1 or len(raw)
    rest: list[bytes] = []
    found: list[tuple[int, list[bytes]]] = []
    field, size = b"", 0
    for line in BytesIO(raw[:end]):
        if not line.startswith(b" "):
            field, _, value = line.partition(b" ")
            if field == b"gpgsig":
                found.append((size, [value]))
        elif field == b"gpgsig":
            found[-1][1].append(line[1:])
        if field not in _FIELDS:
            rest.append(line)
            size += len(line)
    return [(place, b"".join(lines)) for place, lines in found], b"".join((*rest, raw[end:]))


def _parse_signature(signature: bytes, payload: bytes) -> Envelope | Flaw:
    """Parse a signature, and encode it again for ssh-keygen: the two cannot read it differently."""
    text = b"".join(signature.removeprefix(_BEGIN).removesuffix(_END).split())
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        return Flaw.BROKEN
    if not signature.endswith(_END) or not data.startswith(_MAGIC) or base64.b64encode(data) != text:
        return Flaw.BROKEN
    key, after = _parse_string(data, len(_MAGIC))
    purpose, _ = _parse_string(data, after)
    if not purpose:
        return Flaw.BROKEN
    if purpose != PURPOSE:
        return Flaw.PURPOSE
    return Envelope(payload, b"%s\n%s\n%s\n" % (_BEGIN, text, _END), key)


def _parse_string(data: bytes, at: int) -> tuple[bytes, int]:
    """Return a length-prefixed string as SSH writes it, and where the next one begins."""
    end = at + 4 + int.from_bytes(data[at : at + 4], "big")
    return data[at + 4 : end], end


# ssh-keygen, which verifies the signatures.

SECONDS = 10.0
_NO = ("No principal matched.", "Could not verify signature.")
_HINT = "Install OpenSSH 8.8 or later. Until ssh-keygen works, no commit counts as signed."


class KeygenAnswer(msgspec.Struct, frozen=True):
    """Whether it succeeded, and its stdout and stderr."""

    yes: bool
    output: str
    error: str


class SignatureQuery(msgspec.Struct, frozen=True):
    """A signature in a file, the signed text, the allowed signers, the purpose and the time."""

    signature: Path
    payload: bytes
    purpose: str
    allowed: Path
    time: str

    def check_payload(self) -> KeygenAnswer:
        """Check that the signature is one of the signed text, by any key."""
        return self._run("check-novalidate")

    def find_names(self) -> KeygenAnswer:
        """Find who may have signed at that time: the names in the first line of the list with the key."""
        words = ("-s", str(self.signature), "-f", str(self.allowed), self.time)
        return run_ssh_keygen("find-principals", *words)

    def verify(self, name: str, revoked: Path | None) -> KeygenAnswer:
        """Check that the signature is valid, by a signer of that name, with a key that is not revoked."""
        less = ("-r", str(revoked)) if revoked is not None else ()
        return self._run("verify", "-f", str(self.allowed), self.time, "-I", name, *less)

    def _run(self, *words: str) -> KeygenAnswer:
        place = str(self.signature)
        answer = run_ssh_keygen(*words, "-n", self.purpose, "-s", place, stdin=self.payload)
        if answer.yes and not answer.output.startswith(f'Good "{self.purpose}" signature '):
            raise _undecided_error(answer.output)
        return answer


def run_ssh_keygen(*words: str, stdin: bytes = b"") -> KeygenAnswer:
    """Run `ssh-keygen -Y WORDS`. Raise GitcfgError if it neither accepts nor rejects.

    Dates without a `Z` in a list of signers are in UTC, so that the result is the same on all machines.
    """
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
    call = ["ssh-keygen", "-Y", *words]
    try:
        done = subprocess.run(
            call, input=stdin, capture_output=True, check=False, timeout=SECONDS, env=environment
        )
    except subprocess.TimeoutExpired:
        raise GitcfgError(f"ssh-keygen did not verify a signature within {SECONDS:g} s.", _HINT) from None
    except OSError as error:
        raise GitcfgError(f"ssh-keygen cannot be started: {error.strerror}.", _HINT) from None
    output, complaint = os.fsdecode(done.stdout), os.fsdecode(done.stderr)
    if done.returncode and not any(word in output or word in complaint for word in _NO):
        raise _undecided_error(complaint.strip() or output)
    return KeygenAnswer(not done.returncode, output, complaint)


def _undecided_error(words: str) -> GitcfgError:
    first = words.strip().split("\n")[0] or "no output"
    return GitcfgError(f"ssh-keygen cannot verify a signature: {shown(first, most=300)}.", _HINT)


_FINGERPRINT = re.compile(r" key (SHA256:[A-Za-z0-9+/=]+)$")
_UNTIMELY = re.compile(r":\d+: key (?:has expired|is not yet valid)\b")
_CERTIFICATE = re.compile(r":\d+: no valid principals found\b")
_UNREAD = re.compile(r":(\d+): (?:missing key|bad options|invalid (?:key|line|options))\b")


class Signed(msgspec.Struct, frozen=True):
    """The result for a signature: the signer's names, or the flaw; `key` is the key's fingerprint, if any.

    `unread` are lines of the list that could not be read when the key was not found in it.
    """

    signers: tuple[str, ...] = ()
    key: str = ""
    flaw: Flaw | None = None
    unread: tuple[int, ...] = ()


def signer_lines(allowed: bytes) -> frozenset[bytes]:
    """Return the lines of an allowed_signers file that may name a signer."""
    found = (line.strip() for line in allowed.split(b"\n"))
    return frozenset(line for line in found if line and not line.startswith(b"#"))


class Signers:
    """The people who may sign at a moment, by an allowed_signers file, without the keys in `revoked`.

    Results are cached by commit and by key.
    """

    def __init__(self, repository: Repository, allowed: bytes, revoked: Path | None, now: datetime) -> None:
        """Raise GitcfgError if there is no git repository."""
        self._git = repository.git_or_error("it has no signatures")
        self._allowed = allowed
        self._revoked = revoked
        self._time = f"-Overify-time={now.astimezone(UTC):%Y%m%d%H%M%S}Z"
        self._verdicts: dict[str, Signed] = {}
        self._listed: dict[bytes, tuple[KeygenAnswer, ...]] = {}
        self._names: dict[bytes, tuple[str, ...]] = {}

    @property
    def nobody(self) -> bool:
        """Return whether no line of the list can name a signer."""
        return not signer_lines(self._allowed)

    def of(self, *commits: str) -> tuple[Signed, ...]:
        """Return who signed each commit. Raise GitcfgError if this cannot be determined.

        1,000 commits take 8.5 s of CPU, nearly all in ssh-keygen, on all processors.
        """
        new = [commit for commit in dict.fromkeys(commits) if commit not in self._verdicts]
        if new:
            self._check_revoked_readable()
            try:
                with tempfile.TemporaryDirectory(prefix="gitcfg-signers-") as name:
                    folder = Path(name)
                    (folder / "allowed").write_bytes(self._allowed)
                    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
                        verdicts = threads.map(partial(self._judge, folder), new)
                        self._verdicts.update(zip(new, verdicts, strict=True))
            except OSError as error:
                where = error.filename or tempfile.gettempdir()
                raise GitcfgError(f"Cannot verify signatures: {where}: {error.strerror}.") from None
        return tuple(self._verdicts[commit] for commit in commits)

    def _check_revoked_readable(self) -> None:
        """Raise GitcfgError if the list of revoked keys is unreadable.

        git ignores a missing list; ssh-keygen treats all keys as revoked.
        """
        if self._revoked is None:
            return
        try:
            self._revoked.open("rb").close()
        except OSError as error:
            message = f"gpg.ssh.revocationFile in git's configuration names {str(self._revoked)!r}"
            hint = "Until the list of revoked keys can be read, no signature counts."
            raise GitcfgError(f"{message}: {error.strerror}.", hint) from None

    def _judge(self, folder: Path, commit: str) -> Signed:
        _, size = self._git.odb.read_header(commit)
        envelope = parse_envelope(self._git.read(commit)[1]) if size <= MOST_BYTES else Flaw.LARGE
        if isinstance(envelope, Flaw):
            return Signed(flaw=envelope)
        place = folder / commit
        place.write_bytes(envelope.signature)
        query = SignatureQuery(place, envelope.payload, PURPOSE.decode(), folder / "allowed", self._time)
        try:
            return self._find_signers(query, envelope) or self._find_flaw(query, envelope)
        finally:
            place.unlink()

    def _find_signers(self, query: SignatureQuery, envelope: Envelope) -> Signed | None:
        """Return the signer. For a key with known names, one name is enough: one process per commit."""
        known = self._names.get(envelope.key, ())
        candidates = known[:1] or self._find_candidates(query, envelope)
        answers = {name: query.verify(name, self._revoked) for name in candidates}
        names = tuple(name for name, answer in answers.items() if answer.yes)
        if not names:
            return None
        return Signed(self._names.setdefault(envelope.key, names), _parse_fingerprint(answers[names[0]]))

    def _find_candidates(self, query: SignatureQuery, envelope: Envelope) -> tuple[str, ...]:
        """Return the names in all lines of the list with the key; for keys of authorities, in the first."""
        if envelope.key not in self._listed:
            self._listed[envelope.key] = (query.find_names(), *self._find_names_by_line(query, envelope))
        outputs = (answer.output for answer in self._listed[envelope.key] if answer.yes)
        names = dict.fromkeys(name for output in outputs for name in output.split("\n"))
        return tuple(name for name in names if name and not name.startswith("!"))

    def _find_names_by_line(self, query: SignatureQuery, envelope: Envelope) -> Iterator[KeygenAnswer]:
        """Yield the names for each line with a key, if there are several: ssh-keygen finds only the first."""
        text = base64.b64encode(envelope.key)
        found = [line for line in signer_lines(self._allowed) if text in line]
        place = query.signature.with_suffix(".line")
        for line in sorted(found) if len(found) > 1 else ():
            place.write_bytes(line + b"\n")
            yield msgspec.structs.replace(query, allowed=place).find_names()

    def _find_flaw(self, query: SignatureQuery, envelope: Envelope) -> Signed:
        whole = query.check_payload()
        if not whole.yes:
            return Signed(flaw=Flaw.BROKEN)
        key, names = _parse_fingerprint(whole), self._find_candidates(query, envelope)
        if names:
            revoked = self._revoked is not None and any(query.verify(name, None).yes for name in names)
            return Signed(key=key, flaw=Flaw.REVOKED if revoked else Flaw.NAMESPACE)
        error = self._listed[envelope.key][0].error
        if _UNTIMELY.search(error):
            return Signed(key=key, flaw=Flaw.UNTIMELY)
        if _CERTIFICATE.search(error):
            return Signed(key=key, flaw=Flaw.CERTIFICATE)
        return Signed(key=key, flaw=Flaw.UNKNOWN, unread=tuple(map(int, _UNREAD.findall(error))))


def _parse_fingerprint(answer: KeygenAnswer) -> str:
    found = _FINGERPRINT.search(answer.output.split("\n")[0])
    return found.group(1) if found else ""
