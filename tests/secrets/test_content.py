"""What a secret may hold, and what is handed in for one."""

import string

import pytest

from gitcfg.model import GitcfgError
from gitcfg.secrets.store import MOST_BYTES, make_password, parse_content


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
