"""Where private keys stand in a text."""

import pytest

from gitcfg.model.secrets import lines_of_keys, mark_in, open_mark

IDENTITY = "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQ"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
PEM = f"-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY}\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", set()),
        (f"a\n{IDENTITY}\nb", {2}),
        (f"a\n{PEM}b\n", {2, 3, 4, 5}),
        (f"{PEM}a\n{PEM}", {1, 2, 3, 4, 6, 7, 8, 9}),
        (f"a\n-----BEGIN RSA PRIVATE KEY-----\n{BODY}\nno end", {2, 3, 4}),
        ("-----BEGIN PRIVATE KEY-----\n{{ key }}\n-----END PRIVATE KEY-----\n", set()),
        ("AGE-SECRET-KEY-1 is how a private key begins", set()),
    ],
)
def test_a_key_stands_from_its_beginning_to_its_end(text: str, lines: set[int]) -> None:
    assert lines_of_keys(text) == lines
    assert bool(open_mark(text)) == bool(lines)


def test_what_is_encrypted_hides_no_key_behind_it() -> None:
    text = f"ENC[PKCS7,MIIBeQYJKoZIhvcN] out of {IDENTITY}"
    assert (mark_in(text), open_mark(text)) == ("eyaml", "identity")


@pytest.mark.parametrize("piece", [f"{IDENTITY}\n", f"-----BEGIN PRIVATE KEY-----\n{BODY}\n", PEM])
def test_megabytes_of_keys_are_looked_at_in_time_that_grows_as_they_do(piece: str) -> None:
    """With a quadratic search this does not end."""
    text = piece * ((4 << 20) // len(piece))
    assert len(lines_of_keys(text)) > 50_000
