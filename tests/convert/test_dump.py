"""Dumps that are none, were cut short, or mean harm: one error, with the place and a hint."""

import pytest

from gitcfg.convert.wallaby.repository import import_wallaby
from gitcfg.model import GitcfgError
from tests.convert.dumps import declared, dump, feature, group, node, parameter, read, said, subsystem

WHOLE = dump([feature("A")], [group("+++DEFAULT")], [node("n1")], [parameter("P")], [subsystem("s", "P")])

WRONG: list[tuple[str, bytes, str]] = [
    ("nothing", b"", "it is empty"),
    ("a comment", b"# nothing\n", "it is empty"),
    ("text", b"hello\n", "it does not have the lists"),
    ("a list", b"- a\n", "it does not have the lists"),
    ("another mapping", b"a: 1\n", "it does not have the lists"),
    ("no YAML", b"features: [\n", "line 2, column 1"),
    ("a quote", b'features: "\n', "line 1, column 11"),
    ("no UTF-8", b"features:\n- \xff\n", "(line 2, column 3): it is not UTF-8 text"),
    ("NUL", b"features: a\0b\n", "This is not a Wallaby dump"),
    ("two documents", WHOLE + b"---\na: 1\n", "a second document follows"),
    ("a key twice", b"features: []\nfeatures: []\n", "the key 'features' is twice"),
    ("a key that is a list", b"features: []\n[a]: b\n", "(line 2, column 1): a key is not text"),
    ("levels", b"[" * 100_000, "it nests deeper than 32 levels"),
    ("levels of mappings", b"{a: " * 100_000, "it nests deeper than 32 levels"),
    ("levels in a field", b"features: " + b"[" * 50 + b"\n", "it nests deeper"),
    ("an alias of nothing", b"features: *a\n", "the alias a has no anchor"),
    ("an alias of itself", b"features: &a [*a]\n", "the alias a has no anchor"),
    (
        "an object that is text",
        b"features: [a]\ngroups: []\n",
        "(line 1, column 12): a feature is not a mapping",
    ),
    ("a nameless object", b"features: [{included: []}]\n", "the feature has no `name`"),
    ("an empty name", dump([feature("")]), "a feature has an empty name"),
    ("a name that is a list", dump([{**feature("A"), "name": []}]), "`name` of the feature is not text"),
    ("names that are numbers in a mapping", dump([feature("A", included={"a": 1})]), "is not a list"),
    (
        "a list of lists",
        dump([feature("A", included=[["B"]])]),
        "`included` of the feature A is not a list of names",
    ),
    ("a list with nothing", dump([feature("A", included=[None])]), "is not a list of names"),
    (
        "a value that is a list",
        dump([feature("A", params={"P": []})]),
        "is not a mapping of parameters to text",
    ),
    ("settings that are a list", dump([feature("A", params=[])]), "is not a mapping of parameters"),
    ("a flag that is text", dump(nodes=[node("n1", provisioned="maybe")]), "is not true or false"),
    (
        "a level that is text",
        dump(params=[parameter("P", level="x")]),
        "`level` of the parameter P is not an integer",
    ),
    ("a level that is true", dump(params=[parameter("P", level=True)]), "is not an integer"),
    ("bad base64", dump([feature("@")]).replace(b'"@"', b'!binary "a"'), "binary text is not in base64"),
]


@pytest.mark.parametrize(("about", "data", "message"), WRONG, ids=[case[0] for case in WRONG])
def test_what_is_no_dump_is_one_error(about: str, data: bytes, message: str) -> None:
    with pytest.raises(GitcfgError) as raised:
        import_wallaby(data)
    assert message in raised.value.message
    assert raised.value.message.startswith("This is not a Wallaby dump")
    assert raised.value.hints
    assert raised.value.message.isprintable()


def test_a_dump_cut_short_at_any_line_is_refused_or_says_so() -> None:
    lines = WHOLE.splitlines(keepends=True)
    for count in range(len(lines) - 1):
        with pytest.raises(GitcfgError):
            import_wallaby(b"".join(lines[:count]))


def test_a_dump_whose_last_line_does_not_end_is_noted() -> None:
    assert "look dump" in said(import_wallaby(WHOLE.rstrip(b"\n")))


def test_objects_that_appear_twice_are_aliases() -> None:
    data = dump([feature("A", params={"P": "@"}), feature("B", params={"P": "#"})])
    files = read(import_wallaby(data.replace(b'"@"', b'&1 "v"').replace(b'"#"', b"*1")))
    assert files["features/A.yaml"] == files["features/B.yaml"] == {"params": {"P": "v"}}


def test_binary_text_is_decoded() -> None:
    data = dump(params=[parameter("P", description="@"), parameter("Q", description="#")])
    data = data.replace(b'"@"', b"!binary |\n    w6TDtg==").replace(b'"#"', b"!binary |\n    5Pb8")
    result = declared(import_wallaby(data))
    assert (result["P"]["description"], result["Q"]["description"]) == ("äö", "äöü")


def test_a_byte_order_mark_and_windows_line_ends_are_fine() -> None:
    expected = import_wallaby(WHOLE)
    assert import_wallaby(b"\xef\xbb\xbf" + WHOLE) == expected
    assert import_wallaby(WHOLE.replace(b"\n", b"\r\n")) == expected


def bomb(levels: int) -> bytes:
    lines = [b"- &a%d [%s]" % (level, b", ".join([b"*a%d" % (level - 1)] * 10)) for level in range(1, levels)]
    return b"features:\n- &a0 [a, a, a, a]\n" + b"\n".join(lines) + b"\n"


def outcome(data: bytes) -> str:
    try:
        import_wallaby(data)
    except GitcfgError as error:
        return error.message
    return ""


@pytest.mark.parametrize(
    ("about", "data"),
    [
        ("aliases of aliases", bomb(30)),
        (
            "long text, often",
            b"features: [&a %s]\ngroups: [%s]\n" % (b"x" * 1_000_000, b", ".join([b"*a"] * 1000)),
        ),
        ("10 MB in a line", b"features: " + b"x" * 10_000_000 + b"\n"),
        ("10 MB of markers", dump([feature("A", params={"P": ">=" * 5_000_000})])[:-1]),
        ("a million brackets", b"[" * 1_000_000),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_harm_is_refused_or_done_with(about: str, data: bytes) -> None:
    assert len(outcome(data)) < 300


def test_many_names_that_have_to_be_changed() -> None:
    imported = import_wallaby(dump([feature("/" * 3 + chr(0x4E00 + place)) for place in range(3000)]))
    assert len([path for path in imported.files if path.startswith("features/")]) == 3000
