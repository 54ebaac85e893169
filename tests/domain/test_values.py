"""What a value that is written by hand means, against the standard library."""

from datetime import date, datetime
from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.domain import DomainProblem, Kind, parse
from tests.domain.universes import of_words
from tests.seeds import TIMES

MANY = settings(max_examples=100 * TIMES)
ADDRESSES = parse(["0.0.0.0/0", "::/0"])
NETWORKS = parse(["0.0.0.0/0 in /24", "::/0 in /64"])


@MANY
@given(st.ip_addresses())
def test_addresses(address: IPv4Address | IPv6Address) -> None:
    for written in (str(address), address.exploded, address.exploded.upper()):
        assert written in ADDRESSES
        assert IPv6Address(ADDRESSES.normal(written)) == address if address.version == 6 else True
        assert ADDRESSES.normal(written) == ADDRESSES.normal(str(address))
        assert list(parse([written])) == [ADDRESSES.normal(written)]


@MANY
@given(st.ip_addresses(), st.integers(0, 128))
def test_networks(address: IPv4Address | IPv6Address, length: int) -> None:
    network = ip_network(f"{address}/{min(length, address.max_prefixlen)}", strict=False)
    addresses = parse([str(network)])
    assert addresses.size == network.num_addresses
    assert next(iter(addresses)) == ADDRESSES.normal(str(network[0]))
    assert str(network[-1]) in addresses
    longest = min(length + 9, address.max_prefixlen)
    within = parse([f"{network} in /{longest}"])
    assert within.size == 2 ** (longest - network.prefixlen)
    assert next(iter(within)) == within.normal(f"{network[0]}/{longest}")
    assert f"{network[-1]}/{address.max_prefixlen}" in parse([f"{network} in /{address.max_prefixlen}"])
    assert parse(within.items()) == within
    assert parse(addresses.items()) == addresses


@MANY
@given(st.dates())
def test_dates(day: date) -> None:
    every = parse(["0001-01-01 - 9999-12-31"])
    assert day in every
    assert every.normal(day) == every.normal(day.isoformat()) == day.isoformat()
    assert parse([f"0001-01-01 - {day.isoformat()}"]).size == day.toordinal()


def test_one_form_of_each_value() -> None:
    numbers = parse([80, "1024-65535"])
    assert [numbers.normal(value) for value in (80, "80", "+080", 80.0)] == [80] * 4
    assert ADDRESSES.normal("2001:0DB8:0:0:0:0:0:1") == "2001:db8::1"
    assert ADDRESSES.normal("::FFFF:1.2.3.4") == ADDRESSES.normal("::ffff:102:304") == "::ffff:1.2.3.4"
    assert NETWORKS.normal("2001:DB8:0::/64") == "2001:db8::/64"
    assert NETWORKS.normal("10.0.0.0/25") == "10.0.0.0/25"
    assert "10.0.0.0/25" not in NETWORKS
    assert of_words(["a"]).normal(" A ") == " A "


@pytest.mark.parametrize(
    ("domain", "value"),
    [
        *((80, value) for value in (True, None, 80.5, float("inf"), "80 ", "0x50", "٨٠", [80], "9" * 5000)),
        *(
            ("10.0.0.1", value)
            for value in (1, "10.0.0.1/32", "10.0.0.01", "::1%lo", "10.0.0.1 ", "1" * 10**6)
        ),
        *(
            ("10.0.0.0/8 in /9", value)
            for value in ("10.0.0.0", "10.0.0.1/9", "10.0.0.0/x", "10.0.0.0/33", 9)
        ),
        *(("2026-01-31", value) for value in (20260131, "20260131", "2026-W05-6", "2026-02-30", "", None)),
        *(("2026-01-31", value) for value in (datetime(2026, 1, 31), "٢٠٢٦-01-31")),
        *(("a", value) for value in (1, None, True, ["a"])),
    ],
)
def test_what_is_no_value_of_a_kind(domain: int | str, value: object) -> None:
    values = parse([domain])
    assert value not in values
    with pytest.raises(DomainProblem) as told:
        values.normal(value)
    assert told.value.index is None
    assert len(str(told.value)) < 200


def test_kinds_in_words() -> None:
    assert [kind.one for kind in Kind] == ["a number", "text", "an address", "a network", "a date"]
