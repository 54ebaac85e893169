"""Formats of JSON Schema: jsonschema-rs decides, held against tables of values, and against jsonschema."""

import time

import pytest
from jsonschema import Draft202012Validator

from gitcfg.load.schema import FORMATS, OwnSchema, unknown_formats
from gitcfg.model.names import did_you_mean

TABLE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "date": (
        ("2027-01-31", "2028-02-29"),
        ("2027-02-29", "2027-13-01", "27-01-31", "2027-1-31", "31.1.2027"),
    ),
    "date-time": (
        ("2027-01-31T08:00:00Z", "2027-01-31T08:00:00.5+02:00"),
        ("2027-01-31T08:00:00", "2027-01-31", "2027-02-30T08:00:00Z", "2027-01-31T24:00:00Z"),
    ),
    "time": (("08:00:00Z", "23:59:59+01:00"), ("08:00:00", "8:00:00Z", "24:00:00Z", "08:60:00Z")),
    "duration": (("PT30M", "P1D", "P1Y2M3DT4H5M6S", "P3W"), ("30m", "P", "PT", "P1D2H", "P1W2D")),
    "email": (("a@example.com", "a.b+c@example.com"), ("a", "a b@example.com", "@example.com", "a@")),
    "idn-email": (("ä@bücher.example", "a@example.com"), ("ä", "@bücher.example")),
    "hostname": (
        ("example.com", "exec-1.example.com", "EXEC1", "1.example.com"),
        ("a_b.example.com", "-a.example.com", "a-.example.com", "a..b", "a b", f"{'a' * 64}.com"),
    ),
    "idn-hostname": (("bücher.example", "example.com"), ("-a.example", "a b", "a..b")),
    "ipv4": (
        ("10.0.0.9", "255.255.255.255", "0.0.0.0"),
        ("10.0.0.999", "10.0.0", "010.0.0.1", "10.0.0.1/24", "::1", " 10.0.0.1", "10.0.0.1\n"),
    ),
    "ipv6": (
        ("::1", "2001:db8::8a2e:370:7334", "::ffff:10.0.0.1", "FE80::1"),
        ("::12345", "10.0.0.1", "fe80::1%eth0", "1::2::3", "[::1]", "::1/64", ":"),
    ),
    "uri": (
        ("https://example.com/a?b#c", "urn:a:b"),
        ("/a/b", "example com", "http://a b/", "//example.com"),
    ),
    "uri-reference": (("/a/b", "../a?b=1", "https://example.com", "#c"), ("a b", "\\\\host\\share", "%zz")),
    "iri": (("https://bücher.example/ä",), ("/ä", "http://a b/")),
    "iri-reference": (("/ä", "ä?b"), ("a b", "\\\\host")),
    "uri-template": (("http://example.com/{id}{?q*}",), ("http://example.com/{id",)),
    "uuid": (
        ("123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"),
        (
            "123e4567e89b12d3a456426614174000",
            "123e4567-e89b-12d3-a456-42661417400",
            "g23e4567-e89b-12d3-a456-426614174000",
        ),
    ),
    "json-pointer": (("", "/a/0/~0~1"), ("a", "/~2", "#/a")),
    "relative-json-pointer": (("0", "1/a", "2#"), ("/a", "01", "-1")),
    "regex": (("^[a-z]+$", "a|b", "(?:a)b?"), ("(a", "[a", "*a")),
}
LAX = {"email": ("@",), "idn-email": ("@",)}
"""Of these jsonschema asks for a letter alone."""


def test_every_format_has_good_and_bad_values() -> None:
    assert TABLE.keys() == FORMATS.keys()
    assert all(good and bad for good, bad in TABLE.values())


@pytest.mark.parametrize("form", FORMATS)
def test_values_are_judged(form: str) -> None:
    own, (good, bad) = OwnSchema({"format": form}), TABLE[form]
    assert own.refusal is None
    assert [value for value in good if own.problem(value)] == []
    assert [value for value in bad if not own.problem(value)] == []
    assert own.problem(7) is None  # formats are about texts


def test_jsonschema_agrees() -> None:
    checker = Draft202012Validator.FORMAT_CHECKER
    both = FORMATS.keys() & checker.checkers
    assert both >= {"date", "email", "ipv4", "ipv6", "regex", "uuid"}
    for form in both:
        for value in (text for texts in TABLE[form] for text in texts):
            if form in LAX and all(letter in value for letter in LAX[form]):
                continue
            assert checker.conforms(value, form) is (OwnSchema({"format": form}).problem(value) is None), (
                form,
                value,
            )


def test_it_is_said_what_a_value_is_not() -> None:
    assert OwnSchema({"format": "ipv4"}).problem("10.0.0.999") == '"10.0.0.999" is not an IPv4 address.'
    wrong = OwnSchema({"items": {"format": "date"}}).problem(["2027-01-31", "2027-01-32"])
    assert wrong == '"2027-01-32" is not a date (2027-01-31) (at 1).'


def test_unknown_formats_are_found_wherever_a_schema_stands() -> None:
    schema = {
        "properties": {"format": {"format": "a"}},
        "allOf": [{}, {"items": {"format": "b"}}],
        "enum": [{"format": "no"}],
        "$defs": {"x": {"format": "c"}},
        "format": "ipv4",
    }
    assert sorted(unknown_formats(schema)) == [
        (("$defs", "x", "format"), "c"),
        (("allOf", 1, "items", "format"), "b"),
        (("properties", "format", "format"), "a"),
    ]
    assert did_you_mean("ip4", FORMATS) == "Did you mean ipv4?"


@pytest.mark.parametrize("form", FORMATS)
def test_no_value_takes_long(form: str) -> None:
    own, begun = OwnSchema({"format": form}), time.thread_time()
    for text in ("a", "a.", "é", "a@", "[", "%41", "/a", "1:", "{", "xn--", "(", "(a{1000}){1000}"):
        own.problem(text * (90_000 // len(text.encode())))
    assert time.thread_time() - begun < 5
