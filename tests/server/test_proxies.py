"""Where requests come from: what trusted proxies say counts, and what anybody else says does not."""

import json

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from gitcfg.model import GitcfgError
from gitcfg.server.http import Origin, find_origin, parse_network
from tests.server.agent import Node
from tests.server.site import Server, Site, until

TRUSTED = tuple(map(parse_network, ("10.0.0.0/24", "127.0.0.1", "2001:db8::/64")))


def asked(peer: str, *headers: tuple[str, str]) -> web.Request:
    """A request that comes from a peer."""
    return make_mocked_request("GET", "/", headers=CIMultiDict(headers)).clone(remote=peer)


@pytest.mark.parametrize(
    ("peer", "said", "address"),
    [
        ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", ["192.0.2.1"], "192.0.2.1"),
        ("127.0.0.1", ["192.0.2.1, 10.0.0.9"], "192.0.2.1"),
        ("127.0.0.1", ["192.0.2.1", "10.0.0.9"], "192.0.2.1"),
        ("127.0.0.1", ["203.0.113.7, 192.0.2.1, 10.0.0.9"], "192.0.2.1"),  # who asks has written the first
        ("127.0.0.1", ["10.0.0.8, 10.0.0.9"], "10.0.0.8"),
        ("127.0.0.1", ["10.0.0.8, 192.0.2.1, 10.0.0.9"], "192.0.2.1"),
        ("127.0.0.1", ["192.0.2.1:4711"], "192.0.2.1"),
        ("127.0.0.1", ["[2001:db8:1::7]:4711"], "2001:db8:1::7"),
        ("127.0.0.1", ["2001:db8:1::7, 2001:db8::1"], "2001:db8:1::7"),
        ("127.0.0.1", ["::ffff:192.0.2.1"], "192.0.2.1"),
        ("127.0.0.1", ["unknown"], "127.0.0.1"),
        ("127.0.0.1", ["192.0.2.1, nonsense\x7f, 10.0.0.9"], "10.0.0.9"),
        ("127.0.0.1", [""], "127.0.0.1"),
        ("127.0.0.1", [", ,,"], "127.0.0.1"),
        ("::ffff:10.0.0.3", ["192.0.2.1"], "192.0.2.1"),
        ("2001:db8::9", ["192.0.2.1"], "192.0.2.1"),
        ("10.0.1.1", ["192.0.2.1"], "10.0.1.1"),
        ("192.0.2.66", ["127.0.0.1"], "192.0.2.66"),
        ("192.0.2.66", ["127.0.0.1", "10.0.0.1"], "192.0.2.66"),
    ],
)
def test_the_last_one_that_is_no_trusted_proxy(peer: str, said: list[str], address: str) -> None:
    request = asked(peer, *(("X-Forwarded-For", one) for one in said))
    assert find_origin(request, TRUSTED).address == address


@pytest.mark.parametrize(
    ("peer", "said", "expected"),
    [
        ("127.0.0.1", "https", Origin("127.0.0.1", True)),
        ("127.0.0.1", "http", Origin("127.0.0.1", False)),
        ("127.0.0.1", "https, http", Origin("127.0.0.1", False)),
        ("192.0.2.66", "https", Origin("192.0.2.66", False, disbelieved=True)),
    ],
)
def test_tls_of_a_proxy(peer: str, said: str, expected: Origin) -> None:
    assert find_origin(asked(peer, ("X-Forwarded-Proto", said)), TRUSTED) == expected


def test_the_other_header_is_not_read() -> None:
    request = asked("127.0.0.1", ("Forwarded", "for=192.0.2.1;proto=https"))
    assert find_origin(request, TRUSTED) == Origin("127.0.0.1", False)


@pytest.mark.parametrize("text", ["", "proxy.example.com", "10.0.0.7/24", "10.0.0.0/33", "10.0.0.1:80"])
def test_what_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(GitcfgError, match="is not an IP address or network"):
        parse_network(text)


@pytest.mark.parametrize("trusts", [True, False])
def test_the_inventory_and_the_log_say_where_a_node_asks_from(site: Site, trusts: bool) -> None:
    node = Node("n1", "")
    commit = site.with_nodes({"n1": node})
    words = ("--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "127.0.0.1") if trusts else ()
    with Server(site, *words) as server:
        server.accepted(commit)
        asking = server.node("n1", node)
        target = "/v1/nodes/n1/checkin"
        body = b'{"schema": "gitcfg.checkin/1", "node": "n1"}'
        for _ in range(3):
            said = {"X-Forwarded-For": "203.0.113.7, 192.0.2.9, 10.1.1.1"}
            assert asking.ask("POST", target, body, said).status == 200
        found = server.get("/v1/nodes/n1", server.token()).json()
        assert found["address"] == ("192.0.2.9" if trusts else "127.0.0.1")
        until(lambda: server.log.read_text().count(target) == 3)
        logged = [json.loads(line) for line in server.log.read_text().splitlines()]
    assert {one["from"] for one in logged if one.get("path") == target} == {found["address"]}
    told = [one for one in logged if one["message"] == "a proxy that is not trusted"]
    assert len(told) == (0 if trusts else 1)
