"""What a secret may hold; what is sealed for somebody is opened by that one alone."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.git.tree import DictTree, Submodule, Symlink
from gitcfg.model import GitcfgError, Origin, Ref, Secret
from gitcfg.model.age import recipient, stanzas
from gitcfg.secrets.age import encrypt
from gitcfg.secrets.identities import Identities
from gitcfg.secrets.store import (
    MOST_BYTES,
    armor,
    describe_recipient,
    make_password,
    open_secret,
    parse_content,
    seal,
)
from tests.secrets.keypairs import Pair, age, ssh

PEOPLE = [age("alice"), age("bob"), ssh(), ssh("ed25519", 1), ssh("rsa", 0, "-b", "2048", "-N", "")]
FILE = "secrets/deep/x.yaml"
CANARY = "hunter2"


def secret(*pairs: Pair) -> Secret:
    readers = tuple(Ref(pair.public, Origin(FILE)) for pair in pairs)
    return Secret("x", Origin(FILE), where=Ref("true", Origin(FILE)), recipients=readers)


def tree(content: bytes | str | Symlink | Submodule) -> DictTree:
    return DictTree({FILE: "", "secrets/deep/x.age": content})


def refusal(content: bytes | str | Symlink | Submodule | None, found: Secret, own: Identities) -> GitcfgError:
    with pytest.raises(GitcfgError) as told:
        open_secret(DictTree({}) if content is None else tree(content), found, own)
    return told.value


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1), st.sets(st.integers(0, 4)))
def test_everybody_for_whom_it_is_sealed_opens_it_and_nobody_else(text: str, places: set[int]) -> None:
    readers = [PEOPLE[place] for place in sorted(places | {0})]
    raw = seal(text, [pair.public for pair in readers])
    for pair in PEOPLE:
        for content in (raw, armor(raw), "\n" + armor(raw).replace("\n", "\r\n")):
            if pair in readers:
                assert open_secret(tree(content), secret(*readers), pair.own) == text
            else:
                assert "No key here can decrypt" in refusal(content, secret(*readers), pair.own).message


def test_armor_is_what_age_itself_writes() -> None:
    raw = seal("x" * 1000, [PEOPLE[0].public])
    lines = armor(raw).splitlines()
    assert lines[0] == "-----BEGIN AGE ENCRYPTED FILE-----"
    assert lines[-1] == "-----END AGE ENCRYPTED FILE-----"
    assert {len(line) for line in lines[1:-2]} == {64}
    assert stanzas(armor(raw).encode()) == stanzas(raw)


def test_the_header_says_for_whom_it_is() -> None:
    raw = seal("x", [pair.public for pair in PEOPLE])
    assert sorted(map(str, stanzas(raw))) == sorted(str(recipient(pair.public).stanza) for pair in PEOPLE)


def test_the_key_that_fits_is_found_among_many() -> None:
    own = Identities()
    for pair in PEOPLE:
        own = own.join(pair.own)
    assert open_secret(tree(seal("x", [PEOPLE[3].public])), secret(PEOPLE[3]), own) == "x"


def test_who_cannot_open_it_is_told_who_can() -> None:
    told = refusal(seal(CANARY, [PEOPLE[0].public]), secret(PEOPLE[0]), PEOPLE[2].own.with_note("No other."))
    assert told.hints[0].startswith("Tried: key (ssh-ed25519 ...")
    assert told.hints[1:] == (
        "No other.",
        "Its recipients: alice.",
        "One of them can add you: `gitcfg secret rekey x --add KEY`.",
    )
    assert "--identity" in refusal(seal(CANARY, [PEOPLE[0].public]), secret(PEOPLE[0]), Identities()).hints[0]


def test_without_a_name_a_recipient_is_called_by_the_part_of_its_key_that_differs() -> None:
    bare = recipient(PEOPLE[0].public.split()[0])
    assert describe_recipient(bare) == f"{bare.key[:12]}..."
    assert describe_recipient(recipient(" ".join(PEOPLE[2].public.split()[:2]))).startswith("ssh-ed25519 ...")


@pytest.mark.parametrize("place", range(0, 300, 7))
def test_a_changed_byte_is_damage_or_for_nobody(place: int) -> None:
    raw = bytearray(seal(CANARY * 10, [PEOPLE[2].public]))
    raw[place % len(raw)] ^= 1
    told = refusal(bytes(raw), secret(PEOPLE[2]), PEOPLE[2].own)
    assert told.message.startswith(("secrets/deep/x.age ", "No key here can decrypt the secret x."))
    assert CANARY not in told.message + "".join(told.hints)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "has no content: secrets/deep/x.age does not exist"),
        (b"", "does not begin like an age file"),
        ("plain text", "does not begin like an age file"),
        (armor(seal("x", [PEOPLE[2].public]))[:-50], "has damaged armor"),
        (seal("x", [PEOPLE[2].public])[:-2], "is cut off"),
        (seal("x" * 99, [PEOPLE[2].public])[:-1], "is damaged"),
        (Symlink("/etc/passwd"), "is a symlink, not a file"),
        (Submodule(), "is a submodule, not a file"),
        (b"age-encryption.org/v1\n" + b"x" * (2 * MOST_BYTES), "is too large for a secret"),
    ],
)
def test_what_is_no_secret_is_told(content: bytes | str | None, message: str) -> None:
    assert message in refusal(content, secret(PEOPLE[2]), PEOPLE[2].own).message


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        (b"a\0b", "cannot contain a NUL byte"),
        (b"caf\xe9", "must be UTF-8 text"),
        (b"", "is empty"),
        (b"x" * (MOST_BYTES + 1), "at most 1 MiB"),
    ],
)
def test_what_another_program_sealed_is_judged_too(plain: bytes, message: str) -> None:
    told = refusal(encrypt(plain, [recipient(PEOPLE[2].public)]), secret(PEOPLE[2]), PEOPLE[2].own)
    assert told.message.startswith("Cannot use the secret x. ")
    assert message in told.message
    assert "caf" not in told.message


def test_it_is_never_sealed_for_nobody() -> None:
    with pytest.raises(GitcfgError, match="A secret needs a recipient"):
        seal("x", [])
    with pytest.raises(GitcfgError, match="is not a valid key") as told:
        seal(CANARY, ["age1xyz"])
    assert CANARY not in str(told.value)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"x", "x"),
        (b"x\n", "x"),
        (b"x\r\n", "x"),
        (b"x\n\n", "x\n\n"),
        (b"\nx", "\nx"),
        (b"a\nb\n", "a\nb\n"),
        (b"a\nb", "a\nb"),
        (b" x ", " x "),
        ("Käse\n".encode(), "Käse"),
        (b"x" * MOST_BYTES + b"\r\n", "x" * MOST_BYTES),
    ],
)
def test_the_end_of_a_single_line_is_not_part_of_it(raw: bytes, text: str) -> None:
    assert parse_content(raw) == text


@pytest.mark.parametrize("raw", [b"", b"\n", b"\r\n", b"a\0", b"\xff", b"x" * (MOST_BYTES + 1)])
def test_what_no_secret_may_hold_is_refused(raw: bytes) -> None:
    with pytest.raises(GitcfgError) as told:
        parse_content(raw)
    assert told.value.hints


def test_a_password_is_made_of_all_letters_and_digits() -> None:
    made = make_password(5000)
    assert set(made) == set(string.ascii_letters + string.digits)
    assert len(made) == 5000
    assert make_password(32) != make_password(32)
