"""Who signed a commit: every way in which a signature does not count, and git's own opinion of each."""

import base64
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.git import ssh_keygen
from gitcfg.git.envelope import MOST_BYTES, Flaw
from gitcfg.git.repository import Repository
from gitcfg.git.signatures import Signed, Signers
from gitcfg.model import GitcfgError
from tests.gate.signing import PASSED, TO_COME, WHEN, Keys, header, made, ran, raw_signed

NOW = datetime.fromtimestamp(int(WHEN.split()[0]), UTC)
"""Time is judged at the push here, by the commit's date in git: in this table they are the same."""
BEGIN, END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"

Raw = Callable[[bytes, Keys], bytes]


class Commits:
    """A repository with one file; commits are made by hand."""

    def __init__(self, folder: Path, keys: Keys) -> None:
        self.folder = folder
        self.keys = keys
        ran("git", "init", "--quiet", "--bare", folder)
        tree = ran("git", "mktree", where=folder).decode().strip()
        first = ran("git", "commit-tree", "-m", "first", tree, where=folder).decode().strip()
        who = f"ann <ann@x.org> {WHEN}"
        self.text = f"tree {tree}\nparent {first}\nauthor {who}\ncommitter {who}\n\nsecond\n".encode()
        self.other = self.text.replace(b"second", b"third")
        self.repository = Repository.served(folder)

    def add(self, raw: bytes) -> str:
        """A commit of any content, whole or not."""
        words = ("git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin")
        return ran(*words, where=self.folder, given=raw).decode().strip()

    def signed(self, name: str, purpose: str = "git") -> bytes:
        """The one text, signed."""
        return raw_signed(self.text, self.keys.signature(name, self.text, purpose))

    def signers(self, allowed: str | bytes, revoked: Path | None = None, now: datetime = NOW) -> Signers:
        """Those who may sign."""
        text = allowed if isinstance(allowed, bytes) else self.keys.filled(allowed).encode()
        return Signers(self.repository, text, revoked, now)

    def git_agrees(self, commit: str, allowed: str | bytes, revoked: Path | None = None) -> bool:
        """What `git verify-commit` says."""
        file = self.folder / "allowed_signers"
        file.write_bytes(allowed if isinstance(allowed, bytes) else self.keys.filled(allowed).encode())
        words = ["git", "-c", f"gpg.ssh.allowedSignersFile={file}"]
        words += ["-c", f"gpg.ssh.revocationFile={revoked}"] if revoked is not None else []
        environment = {"PATH": os.environ["PATH"], "TZ": "UTC", "HOME": "/nonexistent"}
        done = subprocess.run(
            [*words, "verify-commit", commit], cwd=self.folder, env=environment, capture_output=True
        )
        return not done.returncode


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return made(tmp_path_factory.getbasetemp() / "keys")


@pytest.fixture(scope="module")
def commits(tmp_path_factory: pytest.TempPathFactory, keys: Keys) -> Commits:
    return Commits(tmp_path_factory.mktemp("commits"), keys)


class Listed(msgspec.Struct, frozen=True):
    """A list of signers and a key that signs: the names, or the flaw."""

    allowed: str | bytes
    key: str
    expected: tuple[str, ...] | Flaw
    unread: tuple[int, ...] = ()


LISTS = {
    "plain": Listed("ann {ann}\n", "ann", ("ann",)),
    "ecdsa": Listed("ann {curve}\n", "curve", ("ann",)),
    "rsa": Listed("ann {prime}\n", "prime", ("ann",)),
    "several names": Listed("ann@x.org,bob@x.org {ann}\n", "ann", ("ann@x.org", "bob@x.org")),
    "wildcards": Listed("*@x.org,a?? {ann}\n", "ann", ("*@x.org", "a??")),
    "a name that is excluded is no signer": Listed("!eve@x.org,*@x.org {ann}\n", "ann", ("*@x.org",)),
    "a name with a space": Listed('"ann of x,bob" {ann}\n', "ann", ("ann of x", "bob")),
    "another one": Listed("ann {ann}\n", "eve", Flaw.UNKNOWN),
    "a kind that is not its own": Listed("ann {curve}\nann {prime}\n", "ann", Flaw.UNKNOWN),
    "last without a line end": Listed("bob {bob}\nann {ann}", "ann", ("ann",)),
    "comments, blanks, tabs": Listed("# {eve}\n\n  \n\tann \t {ann} of ann's desk\n", "ann", ("ann",)),
    "commented out": Listed("#ann {ann}\n  # ann {ann}\n", "ann", Flaw.UNKNOWN),
    "CRLF": Listed("ann {ann}\r\nbob {bob}\r\n", "bob", ("bob",)),
    "blank lines of CRLF are no signers": Listed("\r\nann {ann}\r\n", "bob", Flaw.UNKNOWN, (1,)),
    "empty": Listed("", "ann", Flaw.UNKNOWN),
    "a key of a name in capitals": Listed("ANN {ann}\n", "ann", ("ANN",)),
    "a kind in capitals": Listed("{ann}\nann SSH-ED25519 AAAA\n", "ann", Flaw.UNKNOWN, (1, 2)),
    "like an option": Listed("-rf,-I {ann}\n", "ann", ("-rf", "-I")),
    "a terminal's commands": Listed(b"\x1b[31mann ANN\n", "ann", ("\x1b[31mann",)),
    "not UTF-8": Listed(b"\xff\xfe ANN\n", "ann", ("\udcff\udcfe",)),
    "a mark of byte order is part of a name": Listed(b"\xef\xbb\xbfann ANN\n", "ann", ("\ufeffann",)),
    "a separator of lines to Python alone": Listed("a\u2028b\x0bc {ann}\n", "ann", ("a\u2028b\x0bc",)),
    "broken lines open nothing": Listed(
        'ann\n* ssh-ed25519 AAAA\n* bogus {ann}\n* cert-authority="x {ann}\n* {eve}\n',
        "ann",
        Flaw.UNKNOWN,
        (1, 2, 3, 4),
    ),
    "broken lines shut nothing": Listed("ann\nx bogus=1 {bob}\nann {ann}\n", "ann", ("ann",)),
    "the key as text of another": Listed("ann ssh-ed25519 {eve} {ann}\n", "ann", Flaw.UNKNOWN, (1,)),
    "namespace git": Listed('ann namespaces="file,git" {ann}\n', "ann", ("ann",)),
    "namespace g*": Listed('ann NAMESPACES="g*" {ann}\n', "ann", ("ann",)),
    "namespace file": Listed('ann namespaces="file" {ann}\n', "ann", Flaw.NAMESPACE),
    "namespace !git": Listed('ann namespaces="!git,*" {ann}\n', "ann", Flaw.NAMESPACE),
    "two lines, one for git": Listed('ann namespaces="file" {ann}\nann {ann}\n', "ann", ("ann",)),
    "in time": Listed(f'ann valid-after="{PASSED}",valid-before="{TO_COME}" {{ann}}\n', "ann", ("ann",)),
    "expired": Listed(f'ann valid-before="{PASSED}" {{ann}}\n', "ann", Flaw.UNTIMELY),
    "expired, namespaces too": Listed(
        f'ann valid-before="{PASSED}",namespaces="git" {{ann}}\n', "ann", Flaw.UNTIMELY
    ),
    "not yet": Listed(f'ann Valid-After="{TO_COME}" {{ann}}\n', "ann", Flaw.UNTIMELY),
    "renewed": Listed(
        f'ann valid-before="{PASSED}" {{ann}}\nann valid-after="{PASSED}" {{ann}}\n', "ann", ("ann",)
    ),
    "another one expired": Listed(f'bob valid-before="{PASSED}" {{bob}}\n', "ann", Flaw.UNKNOWN),
    "never in time": Listed(
        f'ann valid-after="{TO_COME}",valid-before="{PASSED}" {{ann}}\n', "ann", Flaw.UNKNOWN, (1,)
    ),
    "a date that is none": Listed('ann valid-before="tomorrow" {ann}\n', "ann", Flaw.UNKNOWN, (1,)),
    "a key as an authority": Listed("ann cert-authority {ann}\n", "ann", Flaw.UNKNOWN),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_says_who_may_sign(commits: Commits, name: str) -> None:
    case = LISTS[name]
    allowed = case.allowed
    if isinstance(allowed, bytes):
        allowed = allowed.replace(b"ANN", commits.keys["ann"].encode())
    commit = commits.add(commits.signed(case.key))
    (signed,) = commits.signers(allowed).of(commit)
    assert (signed.flaw or signed.signers) == case.expected
    assert signed.unread == case.unread
    assert signed.key == fingerprint(commits.keys, case.key)
    assert commits.git_agrees(commit, allowed) == (signed.flaw is None)


def fingerprint(keys: Keys, name: str) -> str:
    return ran("ssh-keygen", "-l", "-f", keys.folder / f"{name}.pub").decode().split()[1]


def twice(raw: bytes, keys: Keys) -> bytes:
    found = raw[raw.index(b"gpgsig") : raw.index(b"\n\n") + 1]
    return raw.replace(found, found + found)


def sooner(before: bytes) -> Raw:
    """The signature moved before another line."""

    def moved(raw: bytes, keys: Keys) -> bytes:
        found = raw[raw.index(b"gpgsig") : raw.index(b"\n\n") + 1]
        return raw.replace(found, b"").replace(before, found + before, 1)

    return moved


def said(text: str) -> Raw:
    """Another text in the signature's place."""
    return lambda raw, keys: raw_signed(keys_text(raw), text.encode())


def keys_text(raw: bytes) -> bytes:
    """What was signed."""
    start, end = raw.index(b"gpgsig"), raw.index(b"\n\n")
    return raw[: start - 1] + raw[end:]


def armored(change: Callable[[bytes], bytes]) -> Raw:
    """The signature's bytes changed."""

    def changed(raw: bytes, keys: Keys) -> bytes:
        text = raw[raw.index(b"gpgsig") : raw.index(b"\n\n")].decode().replace(" ", "")
        data = base64.b64decode("".join(text.splitlines()[1:-1]))
        lines = base64.encodebytes(change(data)).decode()
        return raw_signed(keys_text(raw), f"{BEGIN}\n{lines}{END}".encode())

    return changed


def replaced(old: bytes, new: bytes) -> Raw:
    def changed(raw: bytes, keys: Keys) -> bytes:
        assert old in raw
        return raw.replace(old, new, 1)

    return changed


def purpose(name: str) -> Raw:
    return lambda raw, keys: raw_signed(keys_text(raw), keys.signature("ann", keys_text(raw), name))


class Tampered(msgspec.Struct, frozen=True):
    """What was done to a commit that ann had signed, and whether git takes it all the same."""

    change: Raw
    expected: Flaw | None = Flaw.BROKEN
    git_takes_it: bool | None = False


PGP, X509 = (
    "-----BEGIN PGP SIGNATURE-----\n\nabcd\n-----END PGP SIGNATURE-----",
    "-----BEGIN SIGNED MESSAGE-----",
)
TAMPERED = {
    "nothing": Tampered(lambda raw, keys: raw, None, True),
    "no signature": Tampered(lambda raw, keys: keys_text(raw), Flaw.NONE),
    "the message": Tampered(replaced(b"second", b"secund")),
    "a longer message": Tampered(lambda raw, keys: raw + b"more\n"),
    "a message after a NUL": Tampered(lambda raw, keys: raw + b"\0more\n"),
    "an author": Tampered(replaced(b"author ann", b"author eve")),
    "a date": Tampered(replaced(b"committer ann <ann@x.org> 17", b"committer ann <ann@x.org> 16")),
    "no parent": Tampered(lambda raw, keys: b"".join(x for x in raw.splitlines(True) if x[:6] != b"parent")),
    "a line": Tampered(replaced(b"gpgsig", b"encoding latin1\ngpgsig")),
    "a line that looks like a signature's": Tampered(
        replaced(b"gpgsig", b"gpgsigx y\ngpgsig"), git_takes_it=True
    ),
    "the signature in the message": Tampered(
        lambda raw, keys: keys_text(raw) + header(keys.signature("ann", keys_text(raw))), Flaw.NONE
    ),
    "the signature's field": Tampered(replaced(b"gpgsig ", b"gpgsig-sha256 "), Flaw.NONE),
    "a signature for SHA-256 too": Tampered(replaced(b"gpgsig", b"gpgsig-sha256 x\n y\ngpgsig"), None, True),
    "two signatures": Tampered(twice, git_takes_it=True),
    "signed before its tree": Tampered(sooner(b"tree")),
    "signed before its parents": Tampered(sooner(b"parent"), git_takes_it=True),
    "signed before its committer": Tampered(sooner(b"committer"), git_takes_it=True),
    "something after the signature": Tampered(
        replaced(END.encode(), f"{END}\n more".encode()), git_takes_it=True
    ),
    "something before the signature": Tampered(
        replaced(BEGIN.encode(), f"more\n {BEGIN}".encode()), Flaw.FOREIGN
    ),
    "blank lines in the signature": Tampered(replaced(END.encode(), f"\n \n {END}".encode()), None, True),
    "no end": Tampered(replaced(END.encode(), b"-----"), Flaw.BROKEN),
    "no last line": Tampered(replaced(f"\n {END}".encode(), b"")),
    "no signature in the signature": Tampered(said(f"{BEGIN}\n{END}")),
    "begun only": Tampered(said(BEGIN)),
    "no base64": Tampered(said(f"{BEGIN}\n!!!!\n{END}")),
    "another base64 of the same": Tampered(said(f"{BEGIN}\nU1NIU0lHAAAAAR==\n{END}")),
    "another magic": Tampered(armored(lambda data: b"SSHSIX" + data[6:])),
    "another version": Tampered(armored(lambda data: data[:9] + b"\2" + data[10:])),
    "another key": Tampered(armored(lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:])),
    "another signature": Tampered(armored(lambda data: data[:-1] + bytes([data[-1] ^ 1]))),
    "a longer signature": Tampered(armored(lambda data: data + b"more")),
    "a shorter signature": Tampered(armored(lambda data: data[:-1])),
    "the key alone": Tampered(armored(lambda data: data[: 14 + data[13]]), Flaw.BROKEN),
    "a key of four gigabytes": Tampered(
        armored(lambda data: data[:10] + b"\xff" * 4 + data[14:]), Flaw.BROKEN
    ),
    "half a megabyte": Tampered(armored(lambda data: data + bytes(1 << 19))),
    "ten megabytes": Tampered(armored(lambda data: data + bytes(10 << 20)), Flaw.LARGE, None),
    "one byte too many": Tampered(lambda raw, keys: raw.ljust(MOST_BYTES + 1), Flaw.LARGE),
    "as large as may be": Tampered(lambda raw, keys: raw.ljust(MOST_BYTES)),
    "of another commit": Tampered(
        lambda raw, keys: raw_signed(keys_text(raw), keys.signature("ann", keys_text(raw) + b"x"))
    ),
    "for files": Tampered(purpose("file"), Flaw.PURPOSE),
    "for gitx": Tampered(purpose("gitx"), Flaw.PURPOSE),
    "for nothing": Tampered(armored(lambda data: data.replace(b"\0\0\0\3git", b"\0\0\0\0")), Flaw.BROKEN),
    "by PGP": Tampered(said(PGP), Flaw.FOREIGN),
    "by X.509": Tampered(said(X509), Flaw.FOREIGN),
    "by nobody knows what": Tampered(said("me"), Flaw.FOREIGN),
    "by PGP and SSH": Tampered(replaced(b"gpgsig", header(PGP.encode()) + b"gpgsig"), Flaw.FOREIGN),
    "by SSH and PGP": Tampered(lambda raw, keys: raw_signed(raw, PGP.encode()), git_takes_it=True),
    "blank": Tampered(said(""), Flaw.FOREIGN),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_only_what_was_signed_is_signed(commits: Commits, name: str) -> None:
    case = TAMPERED[name]
    commit = commits.add(case.change(commits.signed("ann"), commits.keys))
    (signed,) = commits.signers("ann {ann}").of(commit)
    assert signed.flaw == case.expected
    assert signed.signers == (("ann",) if case.expected is None else ())
    if case.git_takes_it is not None:  # git takes 50 s for a signature of ten megabytes
        assert commits.git_agrees(commit, "ann {ann}\n") == case.git_takes_it


CERTIFICATES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...] | Flaw]] = {
    "for two": ("*@x.org cert-authority {ca}", ("-n", "ann@x.org,bob@y.org"), ("ann@x.org",)),
    "for nobody listed": ("*@x.org cert-authority {ca}", ("-n", "ann@y.org"), Flaw.CERTIFICATE),
    "for nobody": ("* cert-authority {ca}", (), Flaw.CERTIFICATE),
    "expired": ("* cert-authority {ca}", ("-n", "ann", "-V", "20010101Z:20020101Z"), Flaw.CERTIFICATE),
    "of a machine": ("* cert-authority {ca}", ("-h", "-n", "ann"), Flaw.CERTIFICATE),
    "the authority only as a signer": ("* {ca}", ("-n", "ann"), Flaw.UNKNOWN),
    "another authority": ("* cert-authority {bob}", ("-n", "ann"), Flaw.UNKNOWN),
    "the key alone is listed": ("ann {ann}", ("-n", "ann"), Flaw.UNKNOWN),
    "the authority expired": (
        f'* cert-authority,valid-before="{PASSED}" {{ca}}',
        ("-n", "ann"),
        Flaw.UNTIMELY,
    ),
    # ssh-keygen tells names a line each: one with a line end in it is not two.
    "a name of two lines": (
        "*@x.org cert-authority {ca}",
        ("-n", "root\neve@x.org,ann@x.org"),
        ("ann@x.org",),
    ),
}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_certificates_count_for_whom_they_name(commits: Commits, name: str) -> None:
    allowed, words, expected = CERTIFICATES[name]
    commits.keys.certified("certified", *words)
    signature = commits.keys.signature("certified-cert.pub", commits.text)
    commit = commits.add(raw_signed(commits.text, signature))
    (signed,) = commits.signers(allowed).of(commit)
    assert (signed.flaw or signed.signers) == expected
    assert signed.key == fingerprint(commits.keys, "ann")
    assert commits.git_agrees(commit, allowed) == (signed.flaw is None)


REVOKED = {
    "nobody": ("", None),
    "another": ("{bob}\n", None),
    "the key": ("# gone\n\n{ann}\n", Flaw.REVOKED),
    "CRLF": ("{ann}\r\n{bob}\r\n", Flaw.REVOKED),
    "what cannot be read": ("ann\n", Flaw.REVOKED),
}


@pytest.mark.parametrize("name", REVOKED)
def test_revoked_keys_do_not_count(commits: Commits, tmp_path: Path, name: str) -> None:
    text, flaw = REVOKED[name]
    revoked = tmp_path / "revoked"
    revoked.write_text(commits.keys.filled(text), newline="")
    commit = commits.add(commits.signed("ann"))
    assert commits.signers("ann {ann}", revoked).of(commit)[0].flaw == flaw
    assert commits.git_agrees(commit, "ann {ann}", revoked) == (flaw is None)


@pytest.mark.parametrize(("name", "flaw"), [("ann", Flaw.REVOKED), ("bob", None)])
def test_revoked_keys_are_listed_in_binary_too(
    commits: Commits, tmp_path: Path, name: str, flaw: Flaw | None
) -> None:
    revoked = tmp_path / "krl"
    ran("ssh-keygen", "-q", "-k", "-f", revoked, commits.keys.folder / f"{name}.pub")
    commit = commits.add(commits.signed("ann"))
    assert commits.signers("ann {ann}", revoked).of(commit)[0].flaw == flaw
    assert commits.git_agrees(commit, "ann {ann}", revoked) == (flaw is None)
    revoked.write_bytes(revoked.read_bytes()[:40])
    assert commits.signers("ann {ann}", revoked).of(commit)[0].flaw is Flaw.REVOKED


def test_no_list_of_revoked_keys_is_no_empty_one(commits: Commits, tmp_path: Path) -> None:
    commit = commits.add(commits.signed("ann"))
    with pytest.raises(
        GitcfgError, match=r"gpg\.ssh\.revocationFile is '.*/none' .*: No such file"
    ) as caught:
        commits.signers("ann {ann}", tmp_path / "none").of(commit)
    assert caught.value.hints == ("No signature counts until the list of revoked keys can be read.",)
    assert commits.git_agrees(commit, "ann {ann}", tmp_path / "none")  # git does without


def test_the_time_of_the_push_counts_and_not_the_date_of_a_commit(commits: Commits) -> None:
    until = f"{NOW + timedelta(hours=1):%Y%m%d%H%M}"
    allowed = f'ann valid-before="{until}" {{ann}}\n'
    commit = commits.add(commits.signed("ann"))
    flaws = [
        commits.signers(allowed, now=NOW + timedelta(minutes=minutes)).of(commit)[0].flaw
        for minutes in (0, 59, 61)
    ]
    assert flaws == [None, None, Flaw.UNTIMELY]
    assert commits.git_agrees(commit, allowed)


LINES = st.tuples(
    st.sampled_from(["ann", "bob", "*", "a*,bob", "!ann,*", "#ann", '"ann', ""]),
    st.sampled_from(
        ["", 'namespaces="git"', 'namespaces="file"', "bogus", "cert-authority"]
        + [f'valid-{side}="{when}"' for side in ("after", "before") for when in (PASSED, TO_COME)]
    ),
    st.sampled_from(["{ann}", "{bob}", "{eve}", "{curve}", "ssh-ed25519 AAAA", ""]),
)


@given(st.lists(LINES, max_size=4), st.sampled_from(["ann", "bob", "curve"]), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=60)
def test_git_is_of_the_same_opinion(
    commits: Commits, lines: list[tuple[str, str, str]], key: str, end: str
) -> None:
    allowed = "".join(" ".join(filter(None, line)) + end for line in lines)
    commit = commits.add(commits.signed(key))
    (signed,) = commits.signers(allowed).of(commit)
    assert commits.git_agrees(commit, allowed) == (signed.flaw is None)
    assert bool(signed.signers) == (signed.flaw is None)


def test_one_process_a_commit_is_enough(commits: Commits, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = ssh_keygen.ask

    def counted(*words: str, given: bytes = b"") -> ssh_keygen.Answer:
        asked.append(words[0])
        return ask(*words, given=given)

    monkeypatch.setattr(ssh_keygen, "ask", counted)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    texts = [commits.text.replace(b"second", str(number).encode()) for number in range(5)]
    several = [commits.add(raw_signed(text, commits.keys.signature("ann", text))) for text in texts]
    signers = commits.signers("ann,anna {ann}")
    assert signers.of(*several) == (Signed(("ann", "anna"), fingerprint(commits.keys, "ann")),) * 5
    assert asked == ["find-principals", "verify", "verify", *["verify"] * 4]
    assert signers.of(several[3], several[0]) == signers.of(several[0]) * 2
    assert len(asked) == 7
    unsigned = commits.add(commits.text)
    assert signers.of(unsigned, several[0], unsigned)[0] == Signed(flaw=Flaw.NONE)
    assert len(asked) == 7


def test_commits_are_answered_for_in_order(commits: Commits) -> None:
    ours = [commits.add(raw) for raw in (commits.signed("bob"), commits.text, commits.signed("ann"))]
    found = commits.signers("ann {ann}\nbob {bob}").of(*ours, *ours[:1])
    assert [signed.flaw or signed.signers for signed in found] == [("bob",), Flaw.NONE, ("ann",), ("bob",)]


def test_a_huge_list_is_read(commits: Commits) -> None:
    allowed = "x {bob}\n" * 50_000 + "#" * 1_000_000 + "\nann {ann}\n"
    assert commits.signers(allowed).of(commits.add(commits.signed("ann")))[0].signers == ("ann",)


@pytest.mark.parametrize(("text", "nobody"), [("", True), (" \n# x\r\n\t#y", True), ("# x\nann", False)])
def test_a_list_may_name_nobody(commits: Commits, text: str, nobody: bool) -> None:
    assert commits.signers(text).nobody is nobody


PROGRAMS = {
    "missing": (None, r"ssh-keygen cannot be started: No such file or directory\."),
    "hanging": ("exec sleep 60", r"ssh-keygen did not judge a signature within 0\.2 s\."),
    "old": ("echo 'unknown option -- Y' >&2; exit 1", r"cannot judge a signature: unknown option -- Y\."),
    "silent": ("exit 255", r"cannot judge a signature: it says nothing\."),
    "killed": ("kill -9 $$", r"cannot judge a signature: it says nothing\."),
    "impolite": (r"printf '\033[31mno' >&2; exit 1", r"cannot judge a signature: \\x1b\[31mno\."),
    "yes to all": ("echo ann", r"cannot judge a signature: ann\."),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_an_answer_nobody_has_signed(
    commits: Commits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    does, message = PROGRAMS[name]
    if does is not None:
        (tmp_path / "ssh-keygen").write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / "ssh-keygen").chmod(0o755)
    commit = commits.add(commits.signed("ann"))
    monkeypatch.setattr(ssh_keygen, "SECONDS", 0.2)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}" if does is not None else str(tmp_path))
    with pytest.raises(GitcfgError, match=message):
        commits.signers("ann {ann}").of(commit)


def test_many_commits_do_not_wait_for_a_program_that_hangs(
    commits: Commits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ssh-keygen").write_text("#!/bin/sh\necho x >> $0.calls\nexec sleep 60\n")
    (tmp_path / "ssh-keygen").chmod(0o755)
    texts = [commits.text + str(number).encode() for number in range(200)]
    one = commits.keys.signature("ann", commits.text)
    several = [commits.add(raw_signed(text, one)) for text in texts]
    monkeypatch.setattr(ssh_keygen, "SECONDS", 0.3)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(GitcfgError, match="did not judge"):
        commits.signers("ann {ann}").of(*several)
    assert len((tmp_path / "ssh-keygen.calls").read_text().split()) < 50


def test_a_full_disk_is_told(commits: Commits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(GitcfgError, match=r"No signature can be judged: .*none.*: No such file"):
        commits.signers("ann {ann}").of(commits.add(commits.signed("ann")))
