"""Private keys are read from the files that age and OpenSSH write; of all others it is said why not."""

from itertools import count

import pytest

from gitcfg.model import GitcfgError
from gitcfg.model.age import recipient
from gitcfg.secrets.identities import parse_identities
from tests.secrets.keypairs import Pair, age, ssh

RSA = ("-b", "2048", "-N", "")


@pytest.mark.parametrize("pair", [age(), ssh(), ssh("rsa", 0, *RSA)], ids=["age", "ed25519", "rsa"])
def test_the_public_half_is_known(pair: Pair) -> None:
    assert pair.own.keys == (recipient(pair.public).key,)


def test_a_file_of_ages_holds_several_keys_between_comments() -> None:
    one, two = age(), age()
    found = parse_identities([("all", one.private + b"\r\n\n  " + two.private)])
    assert found.keys == (recipient(one.public).key, recipient(two.public).key)


def test_several_files_are_one() -> None:
    found = parse_identities([("a", age().private), ("b", ssh().private)])
    assert [one.place for one in found.held] == ["a", "b"]


def test_nothing_that_is_shown_of_a_key_is_the_key() -> None:
    pair = age()
    secret = pair.private.splitlines()[-1].decode()
    shown = repr(pair.own) + str(pair.own) + f"{pair.own.held[0].key}"
    assert "a private key" in shown
    assert secret[:20] not in shown


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (b"", "has no private key", "age-keygen"),
        (b"# only\n# comments\n", "has no private key", "age-keygen"),
        (b"\xff\0\xfe", "has no private key", "age-keygen"),
        (ssh().public.encode(), "has no private key", "the file beside it"),
        (age().public.encode(), "has no private key", "the file beside it"),
        (b"AGE-SECRET-KEY-1QQQQ", "unusable key: it is not an age key", "age-keygen"),
        (b"AGE-PLUGIN-YUBIKEY-1QQQ", "unusable key: it is a plug-in key", "age-keygen"),
        (b"AGE-SECRET-KEY-PQ-1QQQ", "unusable key: it is a plug-in key", "age-keygen"),
        (b"x" * (1 << 17), "too large", "age-keygen"),
        (b"age-encryption.org/v1\n-> scrypt", "protected by a passphrase", "does not ask for passphrases"),
        (
            b"-----BEGIN AGE ENCRYPTED FILE-----\n",
            "protected by a passphrase",
            "does not ask for passphrases",
        ),
        (
            ssh("ed25519", 0, "-N", "a passphrase").private,
            "protected by a passphrase",
            "does not ask for passphrases",
        ),
        (ssh("rsa", 0, "-b", "2048", "-m", "PEM", "-N", "").private, "in OpenSSH format", "ssh-keygen -p"),
        (
            ssh("rsa", 0, "-b", "2048", "-m", "PEM", "-N", "a passphrase").private,
            "in OpenSSH format",
            "does not ask for passphrases",
        ),
        (ssh("rsa", 0, "-b", "1024", "-N", "").private, "RSA keys of 2048 to 4096 bits", "age-keygen"),
        (ssh("ecdsa").private, "age does not support this kind of key", "age-keygen"),
        (ssh().private[:200], "it is damaged", "age-keygen"),
        (
            b"-----BEGIN OPENSSH PRIVATE KEY-----\n!\n-----END OPENSSH PRIVATE KEY-----",
            "damaged",
            "age-keygen",
        ),
        (
            b"-----BEGIN OPENSSH PRIVATE KEY-----\neA==\n-----END OPENSSH PRIVATE KEY-----",
            "damaged",
            "age-keygen",
        ),
    ],
    ids=count(),  # two workers make other keys
)
def test_what_is_no_key_is_refused_with_a_hint(text: bytes, message: str, hint: str) -> None:
    with pytest.raises(GitcfgError) as told:
        parse_identities([("a/file", text)])
    assert told.value.message.startswith("a/file ")
    assert message in told.value.message
    assert any(hint in each for each in told.value.hints)


def test_a_damaged_key_is_told_whatever_is_wrong_with_it() -> None:
    lines = ssh().private.splitlines(keepends=True)
    for place in range(1, len(lines) - 1):
        with pytest.raises(GitcfgError, match="has an unusable key"):
            parse_identities([("f", b"".join([*lines[:place], *lines[place + 1 :]]))])
