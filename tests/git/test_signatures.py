"""Who signed a commit: every way in which a signature does not count, and git's own opinion of each."""

import os
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.git import signatures as ssh_keygen
from gitcfg.git.signatures import Flaw, Signed
from gitcfg.model import GitcfgError
from tests.gate.signing import PASSED, TO_COME, Keys, ran, raw_signed
from tests.git.commits import NOW, Commits


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
        GitcfgError, match=r"gpg\.ssh\.revocationFile .* names '.*/none': No such file"
    ) as caught:
        commits.signers("ann {ann}", tmp_path / "none").of(commit)
    assert caught.value.hints == ("Until the list of revoked keys can be read, no signature counts.",)
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
    ask = ssh_keygen.run_ssh_keygen

    def counted(*words: str, stdin: bytes = b"") -> ssh_keygen.KeygenAnswer:
        asked.append(words[0])
        return ask(*words, stdin=stdin)

    monkeypatch.setattr(ssh_keygen, "run_ssh_keygen", counted)
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
    "hanging": ("exec sleep 60", r"ssh-keygen did not verify a signature within 0\.2 s\."),
    "old": ("echo 'unknown option -- Y' >&2; exit 1", r"cannot verify a signature: unknown option -- Y\."),
    "silent": ("exit 255", r"cannot verify a signature: no output\."),
    "killed": ("kill -9 $$", r"cannot verify a signature: no output\."),
    "impolite": (r"printf '\033[31mno' >&2; exit 1", r"cannot verify a signature: \\x1b\[31mno\."),
    "yes to all": ("echo ann", r"cannot verify a signature: ann\."),
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
    with pytest.raises(GitcfgError, match="did not verify"):
        commits.signers("ann {ann}").of(*several)
    assert len((tmp_path / "ssh-keygen.calls").read_text().split()) < 50


def test_a_full_disk_is_told(commits: Commits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(GitcfgError, match=r"Cannot verify signatures: .*none.*: No such file"):
        commits.signers("ann {ann}").of(commits.add(commits.signed("ann")))
