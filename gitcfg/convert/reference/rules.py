"""The chapter of rules: what each asks for, where, and which nodes have something by it."""

from collections.abc import Iterator

from gitcfg.convert.reference.content import Chapter, Code, Entry, Line, Part, Table, Text
from gitcfg.convert.reference.settings import SECRET, binding_line, fact, value_piece
from gitcfg.convert.reference.uses import Usage
from gitcfg.model.rules import Count, Domain, Permit, Rule, RuleKind, Uniqueness

_ABOUT = "What must hold for all nodes together. What a rule leaves open is decided in allocations/."
_VERBS = {RuleKind.INSTALL: "Installs", RuleKind.LIMIT: "Limits"}
_PERMITS = {RuleKind.FORBID: "Forbidden to change", RuleKind.ALLOW: "Allowed to change"}


def rule_chapter(usage: Usage) -> Chapter:
    """Every rule."""
    nodes: dict[str, list[str]] = {}
    for kind in usage.fleet.classes:
        for name in kind.brought.rules:
            nodes.setdefault(name, []).extend(kind.names)
    entries = []
    for name, rule in sorted(usage.fleet.model.rules.items()):
        concerned = nodes.get(name, [])
        cells: tuple[Line, ...] = ((Text(rule.kind.value),), usage.nodes.count(concerned))
        parts = tuple(_rule_parts(usage, rule, concerned))
        entries.append(Entry("rule", name, rule.description, rule.origin.file, cells, parts))
    return Chapter("rule", "Rules", _ABOUT, ("does", "nodes"), tuple(entries))


def _rule_parts(usage: Usage, rule: Rule, nodes: list[str]) -> Iterator[Part]:
    if rule.feature is not None:
        yield from fact(_VERBS[rule.kind], [usage.link("feature", rule.feature.name)])
    yield from fact("Requires", [(Code(rule.require.name),)] if rule.require else ())
    yield from fact("Says", [(Text(rule.message),)] if rule.message else ())
    yield from fact("How many", [_count_line(rule.count)] if rule.count else ())
    yield from fact("Where", [(Code(rule.where.name),)] if rule.where else ())
    yield from fact("Over instances of", [usage.link("feature", rule.over.name)] if rule.over else ())
    yield from fact("For each", [(Code(rule.per.name),)] if rule.per else ())
    yield from fact("No value twice", [_unique_line(rule.unique)] if rule.unique else ())
    yield from fact("Nodes that have something by it", [usage.nodes.line(nodes)] if nodes else ())
    if rule.permit is not None:
        yield from _permit_parts(rule.kind, rule.permit)
    if rule.params:
        rows = [
            (usage.parameter(name), binding_line(usage, name, said))
            for name, said in sorted(rule.params.items())
        ]
        yield Table("Parameters", ("parameter", "value"), tuple(rows))
    if rule.domains:
        domains = [_domain_row(usage, rule, said) for _, said in sorted(rule.domains.items())]
        yield Table("Values", ("of", "may be"), tuple(domains))


def _count_line(count: Count) -> Line:
    if count.least == count.most:
        return (Text(f"{count.least}"),)
    least = [f"at least {count.least}"] if count.least else []
    most = [f"at most {count.most}"] if count.most is not None else []
    return (Text(", ".join(least + most) or "any number"),)


def _unique_line(unique: Uniqueness) -> Line:
    if unique.key is not None:
        return (Text("among those of the same "), Code(unique.key.name))
    return (Text("in the whole fleet" if unique.scope == "fleet" else "on one node"),)


def _permit_parts(kind: RuleKind, permit: Permit) -> Iterator[Part]:
    yield from fact("Who", ((Code(ref.name),) for ref in permit.by))
    for what, named in permit.things().items():
        yield from fact(f"{_PERMITS[kind]}, {what}", ((Code(ref.name),) for ref in named))
    yield from fact("Inherit", [(Text("no: just these features"),)] if not permit.inherit else ())


def _domain_row(usage: Usage, rule: Rule, said: Domain) -> tuple[Line, Line]:
    """The values that a parameter, or an attribute of instances, may have; of a secret, none is shown."""
    of: Line = usage.parameter(said.name) if rule.over is None else (Code(said.name),)
    hidden = rule.over is None and usage.fleet.declarations.secret(said.name)
    return of, SECRET if hidden else (value_piece(list(said.items)),)
