"""The case study of PoDIM (Delaet and Joosen, LISA 2007) as a repository: machines in subnets, and rules.

Nine of the subnets are the public networks from 134.58.39.0 to 134.58.47.255, the others private. Each
has a gateway, a switch, four servers and desktops. Gateways and switches have addresses of their own kind;
one interface has none.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

PUBLIC = range(39, 48)
SERVERS = 4
MONITOR = "net01-server1"
"""It listens on a second interface, which has no address."""


class Subnet(Struct, frozen=True):
    """A subnet: its name, the first three numbers of its addresses, how many machines are in it."""

    name: str
    prefix: str
    machines: int

    @property
    def kind(self) -> str:
        """Whose addresses these are."""
        return "public" if self.prefix.startswith("134.") else "private"


def subnets(machines: int = 600, count: int = 20) -> Iterator[Subnet]:
    """So many subnets with so many machines together."""
    for number in range(count):
        public = number < len(PUBLIC)
        prefix = f"134.58.{PUBLIC[number]}" if public else f"10.0.{number}"
        size = machines // count + (number < machines % count)
        yield Subnet(f"net{number + 1:02}", prefix, size)


def study(machines: int = 600, count: int = 20) -> dict[str, str]:
    """The files of the repository."""
    found = dict(_COMMON)
    for subnet in subnets(machines, count):
        found.update(_nodes(subnet))
        found[f"rules/{subnet.name}.yaml"] = _ranges(subnet)
    return found


def one_more(files: Mapping[str, str]) -> dict[str, str]:
    """The same with one desktop more in the first subnet."""
    node = _interfaces("desktop", "net01", "public")
    return {**files, "nodes/net01-guest.yaml": node}


def _nodes(subnet: Subnet) -> Iterator[tuple[str, str]]:
    name, kind = subnet.name, subnet.kind
    backbone = "{feature: interface, as: eth1, with: {subnet: backbone, kind: backbone}}"
    yield f"nodes/{name}-gateway.yaml", _interfaces("gateway", name, "fixed", backbone)
    yield f"nodes/{name}-switch.yaml", _interfaces("switch", name, "fixed")
    servers = f"nodes: {name}-server[1-{SERVERS}]\n" + _interfaces("server", name, kind)
    yield f"nodesets/{name}-servers.yaml", servers
    desktops = f"nodes: {name}-desktop[01-{subnet.machines - SERVERS - 2:02}]\n"
    yield f"nodesets/{name}-desktops.yaml", desktops + _interfaces("desktop", name, kind)


def _interfaces(label: str, subnet: str, kind: str, *more: str) -> str:
    """What a machine has, by what it is."""
    first = f"{{feature: interface, as: eth0, with: {{subnet: {subnet}, kind: {kind}}}}}"
    listed = "".join(f"  - {one}\n" for one in (first, *more))
    return f"features:\n{listed}labels: [{label}]\nfacts: {{subnet: {subnet}}}\n"


def _ranges(subnet: Subnet) -> str:
    """Which addresses the interfaces in a subnet may have."""
    name, prefix = subnet.name, subnet.prefix
    return f"""\
rules:
  {name}-machines:
    domain: {{address: ["{prefix}.10-{prefix}.254"]}}
    over: interface
    where: self.with.subnet == "{name}" && self.with.kind == "{subnet.kind}"
  {name}-fixed:                      # gateways and switches: an exception
    domain: {{address: ["{prefix}.1-{prefix}.9"]}}
    over: interface
    where: self.with.subnet == "{name}" && self.with.kind == "fixed"
    unique: fleet
"""


_COMMON = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/network.yaml": """\
parameters:
  "interface.*": {description: The address of an interface., type: string}
  dns.search_domain: {description: What is appended to short names., type: string}
  dns.servers: {description: Whom to ask for addresses of names., type: string}
  web.port: {description: Where the web server listens., type: integer}
  web.implementation: {description: The program that serves pages., type: string}
  web.php: {description: Are pages programs?, type: boolean}
""",
    "features/interface.yaml": """\
description: A network interface.
params:
  "interface.${as}": "${with.address}"
""",
    "features/service.yaml": "description: Something that others depend on.\n",
    "features/dns-client.yaml": "description: Asks name servers.\n",
    "features/dns-server.yaml": "description: Answers for names.\ninclude: [service]\n",
    "features/dhcp-server.yaml": "description: Gives addresses to guests of a subnet.\ninclude: [service]\n",
    "features/mail-server.yaml": "description: Takes all mail.\ninclude: [service]\n",
    "features/web-server.yaml": """\
description: Serves pages.
include: [service]
params: {web.implementation: publicfile, web.php: false}
""",
    f"nodes/{MONITOR}.yaml": """\
features:
  $append:
    - {feature: interface, as: eth1, with: {subnet: net01, kind: listening, address: ""}}
""",
    "rules/machines.yaml": """\
rules:
  dns-clients:
    install: dns-client
  web-on-servers:
    install: web-server
    where: '"server" in node.labels'
  one-mail-server:
    install: mail-server
    where: '"server" in node.labels'
    count: 1
  two-dns-per-subnet:
    install: dns-server
    where: '"server" in node.labels'
    per: node.facts.subnet
    count: 2
  two-dhcp-per-subnet:
    install: dhcp-server
    over: interface
    where: '"server" in node.labels && self.with.kind in ["public", "private"]'
    per: self.with.subnet
    count: 2
  at-most-three-services:
    limit: service
    per: node.name
    count: {max: 3}
  name-servers:
    set:
      dns.servers:
        $collect: {param: interface.eth0, feature: dns-server, same: [subnet], sort: name, join: ", "}
    where: '"dns-client" in node.features'
  search-domain:
    set: {dns.search_domain: cs.example.org}
    where: '"dns-client" in node.features'
  web-ports:
    domain: {web.port: [80, "1024-65535"]}
    where: '"web-server" in node.features'
  publicfile-has-no-php:
    require: '!(node.params["web.implementation"] == "publicfile" && node.params["web.php"])'
    where: '"web-server" in node.features'
    message: publicfile cannot serve PHP
  keep-out-of-services:
    forbid: {by: ["bill@example.org"], features: [service, "*-server"]}
""",
    "rules/addresses.yaml": """\
rules:
  public-addresses:
    domain: {address: ["134.58.39.0-134.58.47.255"]}
    over: interface
    where: self.with.kind == "public"
    unique: fleet
  private-addresses:
    domain: {address: ["10.0.0.0/16"]}
    over: interface
    where: self.with.kind == "private"
    unique: fleet
  backbone-addresses:
    domain: {address: ["10.1.0.1-10.1.0.254"]}
    over: interface
    where: self.with.kind == "backbone"
    unique: fleet
""",
}
