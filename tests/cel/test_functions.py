"""Addresses and networks in expressions, and the functions for sets and texts that CEL brings along."""

from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.cel import NODE_VARIABLES, CelProblem, compile_condition
from gitcfg.cel.engine import in_net, is_address, net_of

FACTS = {"ip": "10.1.2.3", "ip6": "2001:db8::1", "bad": "10.1.2.300", "rack": 3, "long": "1" * 5_000}
ROW: dict[str, Any] = {"node.name": "Exec001", "node.labels": ["server", "ssd", "ssd"], "node.facts": FACTS}


def holds(text: str) -> bool:
    condition = compile_condition(text, NODE_VARIABLES)
    return condition.holds({name: ROW[name] for name in condition.names})


IN_LOOP = "[1].exists(one, {})"
"""What loops is for the child: a function must be the same there."""


@pytest.mark.parametrize("way", ["{}", IN_LOOP])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('in_net(node.facts.ip, "10.1.0.0/16")', True),
        ('in_net(node.facts.ip, "10.2.0.0/16")', False),
        ('in_net(node.facts.ip, "10.1.2.3")', True),
        ('in_net(node.facts.ip6, "2001:db8::/32")', True),
        ('in_net(node.facts.ip6, "10.0.0.0/8") || in_net(node.facts.ip, "::/0")', False),
        ('net_of(node.facts.ip, 24) == "10.1.2.0/24"', True),
        ('net_of(node.facts.ip6, 64) == "2001:db8::/64"', True),
        ("is_address(node.facts.ip) && is_address(node.facts.ip6)", True),
        ("is_address(node.facts.bad) || is_address(node.facts.long) || is_address(node.name)", False),
        ('is_address(node.facts.bad) && in_net(node.facts.bad, "10.0.0.0/8")', False),
    ],
)
def test_addresses_and_networks(way: str, text: str, expected: bool) -> None:
    assert holds(way.format(text)) is expected


@pytest.mark.parametrize(
    "text",
    [
        'sets.intersects(node.labels, ["ssd", "gpu"])',
        '!sets.contains(node.labels, ["ssd", "gpu"])',
        'sets.equivalent(node.labels, ["ssd", "server"])',
        'node.labels.distinct().join("-") == "server-ssd"',
        'node.name.lowerAscii() == "exec001" && node.name.upperAscii() == "EXEC001"',
        'node.facts.ip.split(".")[0] == "10"',
        'node.name.substring(4) == "001" && node.name.replace("Exec", "n") == "n001"',
        'math.greatest(node.facts.rack, 2) == 3 && "rack%d".format([node.facts.rack]) == "rack3"',
    ],
)
def test_what_the_language_brings_along(text: str) -> None:
    assert holds(text)


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        ("in_net(node.facts.bad, '::/0')", (1, 1), "'10.1.2.300' is not an address", ""),
        ("in_net(node.facts.ip, node.name)", (1, 1), "'Exec001' is not a network", ""),
        (
            "in_net(node.facts.ip, '10.1.2.3/16')",
            *((1, 1), "'10.1.2.3/16' is not a network but an address in 10.1.0.0/16", ""),
        ),
        ("net_of(node.facts.ip, 33) == ''", (1, 1), "33 is not a prefix length of 10.1.2.3", ""),
        ("net_of(node.facts.ip, -1) == ''", (1, 1), "-1 is not a prefix length of 10.1.2.3", ""),
        ("true && in_net(node.facts.rack, '::/0')", (1, 9), "`in_net` does not take int and string", ""),
        ("in_net(node.name, 3)", (1, 7), "`in_net` does not take string and int", ""),
        (
            "in_net(node.name)",
            (1, 1),
            "`in_net` takes a different number of values",
            "write in_net(string, string)",
        ),
        ("innet(node.name, '')", (1, 1), "there is no function 'innet'", "did you mean in_net?"),
        (
            "sets.intersect(node.labels, [])",
            *((1, 1), "there is no function 'sets.intersect'", "did you mean sets.intersects?"),
        ),
        ("is_address(node.name) == 'x'", (1, 23), "`==` does not take bool and string", ""),
    ],
)
def test_what_cannot_be_said_of_an_address_is_a_problem(
    text: str, place: tuple[int, int], message: str, hint: str
) -> None:
    with pytest.raises(CelProblem) as raised:
        holds(text)
    found = raised.value
    assert ((found.line, found.column), found.message, found.hint) == (place, message, hint)


def test_a_long_text_is_not_repeated() -> None:
    with pytest.raises(CelProblem) as raised:
        holds("in_net(node.facts.long, '::/0')")
    assert len(raised.value.message) < 130


@given(st.ip_addresses(), st.integers(0, 32))
def test_an_address_is_in_its_network(address: Any, length: int) -> None:
    net = net_of(str(address), length)
    assert is_address(str(address))
    assert in_net(str(address), net)
    assert ip_network(net).prefixlen == length


@given(st.ip_addresses(), st.ip_addresses(), st.integers(0, 32))
def test_two_addresses_have_one_network_or_two(one: Any, other: Any, length: int) -> None:
    net = ip_network((one.packed, length), strict=False)
    assert in_net(str(other), str(net)) is (ip_address(str(other)) in net)
