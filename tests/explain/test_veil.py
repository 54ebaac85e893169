"""A search shows no secret that stands in plain text, nor how much of it was guessed."""

import pytest

import gitcfg
from gitcfg.explain.search import Match, find_secret_lines, matches_record, search
from gitcfg.model.secrets import PLAIN

CANARY = "hunter2-correct-horse"
IDENTITY = "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQ"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
PEM = ("-----BEGIN PRIVATE KEY-----", BODY, "MIIcanary", "-----END PRIVATE KEY-----")
ALICE = "age1x77kkyfhe4uaaketv6xylfq5pdxmlhcm00szqw8ymq6hk0xraemq7q4ddh"
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": (
        "parameters:\n"
        f"  A: {{type: string, description: d, secret: true, default: {CANARY}-0}}\n"
        f"  B: {{type: string, description: 'not {CANARY}-1'}}\n"
        "  'D_*': {type: map, description: d, secret: true}\n"
        "  E_x: {type: string, description: d, secret: true}\n"
    ),
    "features/F.yaml": (
        "description: d\n"
        f"params: {{'D_${{as}}': {{k: {CANARY}-2}}, 'E_${{as}}': 'a ${{with.word}}', O: '${{with.open}}'}}\n"
    ),
    "groups/g.yaml": (
        "description: near\n"
        f"features: [{{feature: F, as: x, with: {{word: {CANARY}-3, open: near}}}}]\n"
        "params:\n"
        "  A: |\n"
        "    one\n"
        f"    {CANARY}-4\n"
        "  B: near\n"
        f"  D_n: {{$merge: {{k: [{CANARY}-5]}}}}\n"
    ),
    "nodes/n1.yaml": f"params: {{A: {{$default: '{CANARY}-6'}}, B: near}}\n",
    "nodes/n2.yaml": "params: {A: {$secret: near}}\n",
    "nodesets/s.yaml": f"nodes: s[1-2]\nparams: {{A: {CANARY}-7}}\n",
    "overrides/o.yaml": f"nodes: n1\nreason: near\nuntil: 2026-01-01\nparams: {{A: {CANARY}-8}}\n",
    "secrets/pool.yaml": (
        f"for: 'true'\nversion: 1\nrecipients:\n  - {IDENTITY}  # near\n  - {CANARY}\n  - {ALICE} near\n"
    ),
    "files/key": "\n".join(("near", *PEM, "near", "")),
    "templates/t.j2": f"near\n{IDENTITY} near\n",
    "groups/h.yaml": "params:\n  B: |\n" + "".join(f"    {line}\n" for line in PEM) + "    near\n",
}


def found(text: str) -> tuple[Match, ...]:
    with gitcfg.in_memory(FILES) as fleet:
        return search(fleet.compiled, [text])


def test_no_search_shows_it() -> None:
    for text in (CANARY, IDENTITY, "secret-key", "canary", BODY, "begin", "near", "one", "a", "1", "x"):
        shown = str(matches_record(None, [], found(text)))
        assert (CANARY in shown) is (f"not {CANARY}-1" in shown), text
        assert not [part for part in (IDENTITY, BODY, "MIIcanary") if part in shown], text


def test_it_is_told_where_it_begins() -> None:
    told = {str(one.origin) for one in found(CANARY) if one.veiled}
    assert told == {
        "parameters/p.yaml:2:60",
        "features/F.yaml:2:25",
        "groups/g.yaml:2:45",
        "groups/g.yaml:4:6",
        "groups/g.yaml:8:22",
        "nodes/n1.yaml:1:24",
        "nodesets/s.yaml:2:13",
        "overrides/o.yaml:4:13",
        "secrets/pool.yaml:5:5",
    }
    assert {one.excerpt for one in found(CANARY) if one.veiled} == {PLAIN}
    assert [one.excerpt for one in found(CANARY) if not one.veiled] == [
        f"B: {{type: string, description: 'not {CANARY}-1'}}"
    ]


@pytest.mark.parametrize("text", [CANARY[:1], CANARY[:7], CANARY, f"{CANARY}-6"])
def test_it_is_not_told_how_much_of_it_was_guessed(text: str) -> None:
    (told,) = [one for one in found(text) if one.origin.file == "nodes/n1.yaml" and one.veiled]
    assert (str(told.origin), told.excerpt, told.spans) == ("nodes/n1.yaml:1:24", PLAIN, ())


def test_what_stands_beside_it_is_found_and_not_shown() -> None:
    told = {str(one.origin): one.excerpt for one in found("near")}
    veiled = {place for place, excerpt in told.items() if excerpt == PLAIN}
    assert veiled == {"groups/g.yaml:2:76", "groups/h.yaml:2:6", "nodes/n1.yaml:1:55", "templates/t.j2:2:1"}
    assert {place: told[place] for place in told.keys() - veiled} == {
        "files/key:1:1": "near",
        "files/key:6:1": "near",
        "groups/g.yaml:1:14": "description: near",
        "groups/g.yaml:7:6": "B: near",
        "nodes/n2.yaml:1:23": "params: {A: {$secret: near}}",
        "overrides/o.yaml:2:9": "reason: near",
        "secrets/pool.yaml:6:68": f"- {ALICE} near",
        "templates/t.j2:1:1": "near",
    }


def test_no_line_that_may_be_shown_of_a_file_has_it() -> None:
    with gitcfg.in_memory(FILES) as fleet:
        for file, text in FILES.items():
            hidden = find_secret_lines(fleet.compiled, file, text.encode())
            lines = [line for number, line in enumerate(text.splitlines(), 1) if number not in hidden]
            shown = "\n".join(lines).replace(f"not {CANARY}-1", "")
            assert not [part for part in (CANARY, IDENTITY, BODY, "MIIcanary") if part in shown], file
        group = FILES["groups/g.yaml"].encode()
        assert find_secret_lines(fleet.compiled, "groups/g.yaml", group) >= {2, 4, 5, 6, 8}
        assert find_secret_lines(fleet.compiled, "groups/g.yaml", group).isdisjoint({1, 3, 7})
        assert not find_secret_lines(fleet.compiled, "gitcfg.yaml", b"format: 1\n")
