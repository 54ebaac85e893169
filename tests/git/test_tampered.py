"""What somebody did to a commit that was signed: it is signed no more, and git is of the same opinion."""

import base64
from collections.abc import Callable

import msgspec
import pytest

from gitcfg.git.signatures import MOST_BYTES, Flaw
from tests.gate.signing import Keys, header, raw_signed
from tests.git.commits import Commits

BEGIN, END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"

Raw = Callable[[bytes, Keys], bytes]


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
