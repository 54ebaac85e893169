"""Files of repositories in which nodes hang together: by rules, by what was decided, by what is collected."""

from tests.history.histories import EXTRAS, Extras

_WHERES = (
    "'\"A\" in node.features'",
    "'\"G\" in node.groups'",
    "'\"x\" in node.labels'",
    "'node.facts.INT > 3'",
    '\'node.name in ["n1", "s2"]\'',
    "'broken ('",
)
_COLLECTED = (
    "LIS: {$collect: {param: name, feature: A}}",
    "LIS: {$collect: {param: name, feature: A, same: [INT]}}",
    "LIS: {$append: q}, STR: {$collect: {param: LIS, feature: C, sort: value, join: ' '}}",
    "STR: {$collect: {param: STR, feature: T, one: true}}",
    "UND: {$collect: {param: INT, feature: C, where: '\"x\" in other.labels'}}",
    '"\\u0024STR": x, UND: {"\\u0024collect": {param: name, feature: T}}',
)


def _rules(*rules: str) -> str:
    return "".join(("rules:\n", *(f"  {rule}\n" for rule in rules)))


RULED: Extras = {
    **{
        path: EXTRAS[path]
        for path in ("gitcfg.yaml", "features/T.yaml", "templates/t.j2", "overrides/w.yaml")
    },
    "rules/install.yaml": (
        *(_rules(f"i: {{install: C, where: {where}}}") for where in _WHERES),
        _rules("i: {install: E}", "j: {install: T, where: '\"E\" in node.features'}"),
        _rules("i: {install: T, over: I, where: 'self.as == \"x\"'}", "s: {set: {INT: 1}}"),
        _rules("limited: {limit: A, count: {max: 1}}"),
    ),
    "rules/more/set.yaml": (
        *(_rules(f"s: {{set: {{STR: r, INT: 5}}, where: {where}}}") for where in _WHERES),
        *(_rules(f"s: {{set: {{{said}}}}}") for said in _COLLECTED),
        _rules("s: {set: {UND: {$append: z}, STR: {$fact: INT}}, where: '\"C\" in node.features'}"),
        _rules("i: {install: A}", "s: {set: {STR: {$secret: t}}}"),
        "{broken",
    ),
    "rules/left.yaml": (
        _rules("c: {install: E, count: 1}", "d: {domain: {INT: ['1-9'], STR: [a, b]}, unique: fleet}"),
        _rules("c: {install: T, count: 2, over: I}", "d: {domain: {v: [a, b]}, over: I}"),
        _rules("c: {domain: {STR: [a, b]}}", "d: {domain: {STR: [c]}, where: '\"A\" in node.features'}"),
        _rules("d: {install: C}"),
    ),
    "allocations/c.yaml": (
        "install: [n1, s2]\n",
        "install: [n3, n2, gone]\n",
        "install: [n1/x, n3/y]\n",
        "values: {n1: {STR: a}, n3: {STR: b}}\n",
    ),
    "allocations/d.yaml": (
        "values: {n1: {INT: 7, STR: a}, s1: {INT: 8}}\n",
        "values: {n1/x: {v: a}, n3/x: {v: b}, n3/y: {v: a}}\n",
        "values: {n3: {STR: c, LIS: d}}\n",
    ),
    "allocations/a/d.yaml": ("values: {n3: {STR: b}}\n",),
    "groups/G.yaml": tuple(
        f"features: [A, T]\nparams: {{{said}}}\n" for said in (*_COLLECTED, "STR: g", "LIS: {$append: g}")
    ),
    "nodes/n2.yaml": tuple(f"groups: [G]\nparams: {{{said}}}\n" for said in (*_COLLECTED, "STR: n")),
    "nodes/n3.yaml": (
        "groups: [G]\nlabels: [x]\nfacts: {INT: 7}\nfeatures: [{feature: I, as: x}]\n",
        "groups: [H, G]\nfacts: {INT: 2}\nfeatures: [C, {feature: I, as: y, with: {v: w}}]\n",
        "state: retired\ngroups: [G]\nfeatures: [A]\n",
        "features: [{feature: O, as: x, with: {v: w}}]\nwithout: [T]\nfacts: {INT: 7}\n",
    ),
    "nodes/n4.yaml": (
        "labels: [x]\nfeatures: [A, T]\nfacts: {INT: 7}\n",
        "features: [C]\nparams: {STR: four}\n",
    ),
    "features/A.yaml": ("params: {LIS: {$append: a}}\n", "include: [C]\n"),
    "parameters/q.yaml": (
        "parameters: {UND: {type: list, tags: [t]}}\n",
        "parameters: {STR: {type: string, default: q}, LIS: {type: list}}\n",
    ),
    "secrets/t.yaml": ("for: 'true'\nversion: 5\n", "for: 'false'\nversion: 6\n"),
}
"""What random repositories have not that know of no rules, or not so."""
