"""Large fleets with rules, and the same without: what rules cost a check is the difference."""

from collections.abc import Iterator

from bench.rules.problems import EACH, RACK

FEATURES = 30
_FIRST = 2000


def decided(nodes: int) -> dict[str, str]:
    """Features are placed in each rack by rules, and every node has a port of its own: all of it decided."""
    files = {**bare(nodes), "rules/placed.yaml": _rules(), "allocations/ports.yaml": _ports(nodes)}
    for number in range(FEATURES):
        files[f"allocations/two-f{number:02}.yaml"] = _places(number, nodes)
    return files


def bare(nodes: int) -> dict[str, str]:
    """The nodes and features alone."""
    files = {
        "gitcfg.yaml": "format: 1\n",
        "parameters/all.yaml": """\
parameters:
  port: {description: Where it listens., type: integer}
  name: {description: What it is called., type: string}
  peers: {description: The others in its rack., type: string}
""",
    }
    files.update(_features())
    for rack in range(nodes // RACK):
        files[f"nodesets/rack{rack:03}.yaml"] = f"nodes: {_range(rack)}\nfacts: {{rack: r{rack}}}\n"
    return files


def collecting(nodes: int) -> dict[str, str]:
    """Every node knows the others in its rack."""
    collect = '{$collect: {param: name, feature: base, same: [rack], sort: name, join: ","}}'
    return {**bare(nodes), **_bound(collect)}


def many(rules: int) -> dict[str, str]:
    """So many rules of which hardly any two ask the same, and a single rack for them."""
    said = "".join(map(_rule, range(rules)))
    return {**bare(RACK), **({"rules/many.yaml": f"rules:\n{said}"} if rules else {})}


def _rule(number: int) -> str:
    spare = f'"spare-{number // 2}" in node.labels'
    if number % 2:
        return f"  r{number}: {{set: {{name: spare}}, where: '{spare}'}}\n"
    feature = f'"f{number % FEATURES:02}" in node.features'
    return f"  r{number}: {{require: '!({feature}) || !({spare})'}}\n"


def plain(nodes: int) -> dict[str, str]:
    """Every node has the same value instead."""
    return {**bare(nodes), **_bound("somebody")}


def _bound(value: str) -> dict[str, str]:
    feature = f"description: What all have.\nparams:\n  peers: {value}\n"
    return {"features/base.yaml": feature, "groups/default.yaml": "features: [base]\n"}


def _features() -> Iterator[tuple[str, str]]:
    for number in range(FEATURES):
        yield f"features/f{number:02}.yaml", f"description: Service {number}.\n"


def _range(rack: int) -> str:
    first = rack * RACK
    return f"n[{first:05}-{first + RACK - 1:05}]"


def _rules() -> str:
    placed = "".join(
        f"  two-f{number:02}: {{install: f{number:02}, per: node.facts.rack, count: {EACH}}}\n"
        for number in range(FEATURES)
    )
    ports = f'  ports: {{domain: {{port: ["{_FIRST}-65535"]}}, unique: fleet}}\n'
    return f"rules:\n{placed}{ports}"


def _places(number: int, nodes: int) -> str:
    """Two nodes of each rack, others for each feature."""
    slots = [
        rack + (number + step * FEATURES) % RACK for rack in range(0, nodes, RACK) for step in range(EACH)
    ]
    return "install:\n" + "".join(f"  - n{slot:05}\n" for slot in slots)


def _ports(nodes: int) -> str:
    return "values:\n" + "".join(f"  n{node:05}: {{port: {_FIRST + node}}}\n" for node in range(nodes))
