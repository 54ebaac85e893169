"""Where lines of files can be read."""

import pytest

from gitcfg.model import Origin
from gitcfg.web.content import SourceLinks, parse_forge

FORGE = "https://git.example.org/pool/blob/{commit}/{file}#L{line}"


def test_a_forge_shows_files_where_there_is_one() -> None:
    origin = Origin("groups/A b.yaml", 7)
    assert (
        SourceLinks("abc", FORGE).of(origin) == "https://git.example.org/pool/blob/abc/groups/A%20b.yaml#L7"
    )
    assert SourceLinks("abc", FORGE, "pool").of(origin).endswith("/abc/pool/groups/A%20b.yaml#L7")
    assert SourceLinks("abc").of(origin) == "/commits/abc/files/groups/A%20b.yaml#L7"


def test_a_file_cannot_lead_elsewhere() -> None:
    nasty = Origin('"><script>/{line}?x=\u202e', 1)
    address = SourceLinks("abc", FORGE).of(nasty)
    assert not set(address.removeprefix("https://git.example.org/pool/blob/abc/")) & set('"<>{}?\u202e')
    assert address.isascii()


@pytest.mark.parametrize(
    "said",
    [
        None,
        "",
        "javascript:alert({commit}{file})",
        "https://git.example.org/",
        'https://x/{commit}/{file}"',
        "//x/{commit}/{file}",
        "https://x/{commit}/\u202e{file}",
    ],
)
def test_what_is_no_address_is_not_used(said: str | None) -> None:
    assert parse_forge(said) == ""


def test_an_address_is_used_as_it_is() -> None:
    assert parse_forge(FORGE) == FORGE
