"""Nothing that says which account, machine, key or person it is survives, wherever it stands."""

import random
import re
from ipaddress import IPv6Address, IPv6Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.convert.sanitize.numbers import NumberPseudonyms
from gitcfg.convert.sanitize.pseudonyms import Pseudonyms
from gitcfg.convert.sanitize.sanitizer import compare_findings
from gitcfg.git.tree import Content
from tests.convert.sanitized import fleet, sanitized
from tests.properties.runs import QUICK
from tests.seeds import many

KEY = b"a key of tests"
HEX, UPPER, DIGITS = "0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"


def shaped(shape: str, rng: random.Random) -> str:
    """A text of a shape: 9 is a digit, h a hexadecimal one, H one in capitals, X a letter or a digit."""
    kinds = {"9": DIGITS, "h": HEX, "H": HEX.upper(), "X": UPPER + DIGITS}
    text = ""
    while len(set(re.findall("[0-9]", text))) < 3:
        text = "".join(rng.choice(kinds[one]) if one in kinds else one for one in shape)
    return text


CANARIES = {
    "account": "acct-999999999999",
    "account with letters": "acct999999999999x",
    "access key": "AKIAXXXXXXXXXXXXXXXX",
    "instance": "i-0hhhhhhhhhhhhhhhh",
    "MAC address": "hh:hh:hh:hh:hh:hh",
    "MAC address with dashes": "HH-HH-HH-HH-HH-HH",
    "MAC address with dots": "hhhh.hhhh.hhhh",
    "serial number": "CN0XXX99XXX99999",
    "UUID": "hhhhhhhh-hhhh-4hhh-hhhh-hhhhhhhhhhhh",
    "URL": "https://vault.corp.example:8443/v1/9999999/x99999?id=999999",
    "e-mail": "jane.doe99999@corp.example",
    "telephone": "+49-30-99999-9999",
    "telephone in parts": "999-999-9999",
    "fingerprint": "hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh",
    "digest": "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh",
    "hexadecimal number": "0xhhhhhhhh",
    "IPv6": "2001:db8:hhhh::hhhh:1hhh",
    "IPv6 in full": "fd99:hhhh:hhhh:hhhh:hhhh:hhhh:hhhh:9hhh",
    "IPv4": "10.1.99.99",
    "IPv4 in a name": "ip-10-99-99-99",
    "version": "10.0.99999.9999",
    "coordinate": "52.9999999",
    "licence": "XXXX9-99999-X99XX-99999",
}
LEGAL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+@-]*")


def planted(canary: str, n: int) -> dict[str, str]:
    """Files that hold a text in every kind of place where it may stand."""
    name = canary if LEGAL.fullmatch(canary) else f"N-{re.sub(r'[^A-Za-z0-9_.+@-]', '-', canary)}"
    word = re.sub(r"[^A-Za-z0-9_]", "_", f"P_{canary}")
    said = "{% if node.facts.a == 'CANARY' %}CANARY{% endif %}"
    files = {
        f"parameters/p{n}.yaml": "# CANARY\nparameters:\n"
        f"  P{n}: {{description: 'Of CANARY.', default: 'CANARY',\n"
        "    schema: {pattern: 'CANARY', description: 'CANARY'}}\n"
        f"  {word}: {{description: 'CANARY', tags: ['CANARY']}}\n",
        f"features/{name}.yaml": f"description: 'It is CANARY, and CANARY.'\nparams:\n  P{n}: 'x CANARY y'\n"
        f"  {word}: >-\n    CANARY and\n    more\n",
        f"groups/g{n}.yaml": f"features: ['{name}']\nparams: {{P{n}: {{$default: 'CANARY'}}}}\nfiles:\n"
        f"  /etc/{name}.conf: {{template: {name}.j2}}\n  /etc/t: {{text: 'a=CANARY'}}\n"
        f"  /etc/f: {{source: {name}}}\n",
        f"nodes/n{n}.yaml": f"groups: [g{n}]\nlabels: ['CANARY']\nfacts: {{a: 'CANARY', 'CANARY': b}}\n"
        "address: 'CANARY'\n",
        f"templates/{name}.j2": "{# CANARY #}CANARY " + said + "\n# CANARY\n",
        f"files/{name}": "id = CANARY\n<CANARY>\n",
        f"overrides/o{n}.yaml": f"nodes: n{n}\nreason: ticket CANARY\nuntil: 2100-01-01\n"
        f"params: {{P{n}: 'CANARY'}}\n",
        f"rules/r{n}.yaml": f"rules:\n  r{n}: {{for: '\"CANARY\" in node.labels', require: 'true',"
        " message: 'CANARY'}\n",
        f"groups/broken{n}.yaml": "params: {P: 'CANARY\n  x: CANARY\n",
    }
    return {path: text.replace("CANARY", canary) for path, text in files.items()}


@pytest.mark.parametrize("seed", many(2, 3))
def test_no_canary_survives(seed: int) -> None:
    rng = random.Random(seed)
    canaries = [shaped(shape, rng) for shape in CANARIES.values()]
    files: dict[str, Content] = {"gitcfg.yaml": "format: 1\n"}
    for number, canary in enumerate(canaries):
        files.update(planted(canary, number))
    sanitizer, (made,) = sanitized([files])
    lines = [line for pair in made.items() for text in pair for line in _text(text).lower().splitlines()]
    told, digits = "\n".join(lines), {re.sub(r"\D", "", line) for line in lines}
    for canary in canaries:
        assert canary.lower() not in told
        assert not [run for run in re.findall(r"\d{5,}", canary) if run in told], canary
        own = re.sub(r"\D", "", canary)
        assert len(own) < 6 or not [line for line in digits if own in line], canary
    with fleet(files) as one, fleet(made) as other:
        assert compare_findings(one.findings, other.findings, sanitizer) == ([], [])
        assert len(other) == len(canaries)


def _text(content: Content) -> str:
    return content.decode() if isinstance(content, bytes) else str(content)


@pytest.mark.parametrize(
    "text",
    [
        "exec01",
        "rack3-u17",
        "slot1_2",
        "exec[0001-9000].example.com",
        "GPU2",
        "25.14.1",
        "12:30:45",
        "x-2024",
    ],
)
def test_short_numbers_stay(text: str) -> None:
    names = Pseudonyms(KEY)
    assert re.findall(r"\d+", names.replace_name(text)) == re.findall(r"\d+", text)


@pytest.mark.parametrize(
    ("nodes", "inside", "outside"),
    [
        ("exec[00001-20000].example.com", "exec10050.example.com", "exec20001.example.com"),
        ("exec-[10001-10200]", "exec-10100", "exec-10201"),
        ("exec[1-10500]", "exec10200", "exec10501"),
        ("exec[99990-100010]", "exec100005", "exec99989"),
    ],
)
def test_node_sets_of_many_digits_hold_the_same_nodes(nodes: str, inside: str, outside: str) -> None:
    files: dict[str, Content] = {
        "gitcfg.yaml": "format: 1\nmax_nodes: 200000\n",
        "nodesets/s.yaml": f"nodes: '{nodes}'\n",
        f"nodes/{inside}.yaml": "labels: [a]\n",
        f"nodes/{outside}.yaml": "labels: [a]\n",
    }
    sanitizer, (made,) = sanitized([files])
    with fleet(files) as one, fleet(made) as other:
        assert set(map(sanitizer.names.replace_name, one)) == set(other)
        assert len(other) == len(one)
        assert compare_findings(one.findings, other.findings, sanitizer) == ([], [])


@given(st.text("ab01", min_size=1, max_size=9), st.text("ab01", min_size=1, max_size=9))
def test_two_names_with_digits_never_become_one(one: str, other: str) -> None:
    names = Pseudonyms(KEY)
    assert (names.replace_name(one) == names.replace_name(other)) == (one == other)
    assert names.replace_name(one) == names.replace_value(one) or not re.search("[a-z]", one)


@QUICK
@given(st.integers(0, 2**128 - 1), st.integers(0, 128), st.integers(0, 2**128 - 1))
def test_networks_of_ipv6_hold_the_same_addresses(number: int, length: int, other: int) -> None:
    figures, net = NumberPseudonyms(KEY), IPv6Network((number, length), strict=False)
    became = IPv6Network(figures.replace_address(str(net)))
    for address in (net[-1], IPv6Address(other)):
        if int(address) > 1 and int(net[0]) > 1:
            assert (IPv6Address(figures.replace_address(str(address))) in became) == (address in net)


def test_what_is_before_a_star_is_the_address_it_begins() -> None:
    figures = NumberPseudonyms(KEY)
    assert figures.replace("10.0.3.17").startswith(figures.replace_network("10.0.3") + ".")
    assert Pseudonyms(KEY).replace_value("10.0.*") == figures.replace_network("10.0") + ".*"


@pytest.mark.slow
@pytest.mark.parametrize("text", ["1", "a1", "ab:", "1-", "1.", "1:", "0x1", "a::"])
def test_long_runs_take_no_long_time(text: str) -> None:
    names, text = Pseudonyms(KEY), text * 20_000
    assert len(names.replace_name(text)) >= len(text) / 2
    assert len(names.replace_value(text)) >= len(text) / 2
