"""Changes and what each touches, as data: files before and after, and the things that rules can name."""

from gitcfg.git.tree import Content

Files = dict[str, Content]
KEY = "n1 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvC7y6zPk3ZVvVjW4m0wG2cD8x5nJxk3w4q0J7s9T1A\n"
SECRET = "for: 'true'\nversion: 1\nrecipients: [age1x]\n"
END = "reason: x\nuntil: 2030-01-01\n"
INCLUDED: Files = {
    "templates/n.j2": "{% include 'm.j2' %}",
    "features/A.yaml": "files: {/etc/motd: {template: n.j2}, /etc/x: {template: x.j2}}\n",
}
CHOSEN: Files = {**INCLUDED, "templates/n.j2": "{% include params.T %}"}

GIVEN = "groups: [web]\nfeatures: [{feature: F, as: x}]\nwithout: [G]\nfiles: {/etc/x: {text: x}}\n"
DECIDED: Files = {
    "rules/r.yaml": "rules:\n  a: {install: F, count: 1}\n  d: {domain: {Q: [1, 2]}}\n"
    "  o: {domain: {address: [1, 2]}, over: F}\n"
}
COMPUTED = (
    "include 'm' ~ '.j2'",
    "include(params.T)",
    "include 'm\\x2ej2'",
    "include 'm' '.j2'",
    "include 'o.j2' if params.T else 'm' ~ '.j2'",
    "include ['o.j2', params.T]",
    "from params.T import x",
)
NEWER = "format: 99\n"

CASES: dict[str, tuple[Files, Files, str]] = {
    "comments and the order of keys": (
        {"features/A.yaml": "params: {P: 1, Q: 2}\n"},
        {"features/A.yaml": "# Both.\nparams:\n  Q: 2\n  P: 1\n"},
        "",
    ),
    "a file that moves": (
        {"features/A.yaml": "params: {P: 1}\n", "parameters/a.yaml": "parameters: {P: {description: P.}}\n"},
        {
            "features/x/A.yaml": "params: {P: 1}\n",
            "parameters/b.yaml": "parameters: {P: {description: P.}}\n",
        },
        "",
    ),
    "a file that moves and changes": (
        {"features/A.yaml": "params: {P: 1, Q: 1}\n"},
        {"features/x/A.yaml": "params: {P: 2, Q: 1}\n"},
        "features:A params:P",
    ),
    "a rename": (
        {"features/A.yaml": "params: {P: 1}\n", "groups/g.yaml": "features: [A, C]\n"},
        {"features/B.yaml": "params: {P: 1}\n", "groups/g.yaml": "features: [B, C]\n"},
        "features:A features:B groups:g params:P",
    ),
    "a feature's place among others": (
        {"groups/g.yaml": "features: [A, B, C]\n"},
        {"groups/g.yaml": "features: [B, A, C, D]\n"},
        "features:A features:B features:D groups:g",
    ),
    "a definition of a parameter": (
        {"parameters/a.yaml": "parameters: {P: {description: P.}, Q: {description: Q.}}\n"},
        {"parameters/a.yaml": "parameters: {P: {description: P., default: 1}, Q: {description: Q.}}\n"},
        "params:P",
    ),
    "members of a set": (
        {"nodesets/s.yaml": "nodes: n[1-3]\nparams: {X: 1}\n"},
        {"nodesets/s.yaml": "nodes: n[1-2,4]\nparams: {X: 1}\n"},
        "nodes:n3 nodes:n4 params:X",
    ),
    "members of a set, and all that they get by it": (
        {"nodesets/s.yaml": f"nodes: n[1-3]\n{GIVEN}", "features/F.yaml": "params: {'SLOT_${as}': 1}\n"},
        {"nodesets/s.yaml": f"nodes: n[1-4]\n{GIVEN}", "features/F.yaml": "params: {'SLOT_${as}': 1}\n"},
        "features:F features:G files:/etc/x groups:web nodes:n4 params:SLOT_*",
    ),
    "what a set says": (
        {"nodesets/s.yaml": "nodes: n[1-2]\nlabels: [a]\n"},
        {"nodesets/s.yaml": "nodes: n[1-2]\nlabels: [b]\n"},
        "nodes:n1 nodes:n2",
    ),
    "another way to write the same set": (
        {"nodesets/s.yaml": "nodes: n[1-3]\n"},
        {"nodesets/s.yaml": "nodes: 'n[1-2],n3'\n"},
        "",
    ),
    "a node that joins a group": (
        {"nodes/n1.yaml": "groups: [a]\n"},
        {"nodes/n1.yaml": "groups: [b, a]\n"},
        "groups:b nodes:n1",
    ),
    "a node that composes instead of replacing": (
        {"nodes/n1.yaml": "groups: [a]\n"},
        {"nodes/n1.yaml": "groups: {$prepend: [a]}\nwithout: [F]\n"},
        "features:F groups:a nodes:n1",
    ),
    "a node's own list instead of its set's": (
        {"nodesets/s.yaml": "nodes: n[1-3]\ngroups: [web]\nfeatures: [F]\n"},
        {
            "nodesets/s.yaml": "nodes: n[1-3]\ngroups: [web]\nfeatures: [F]\n",
            "nodes/n1.yaml": "groups: [x]\nfeatures: []\n",
        },
        "features:F groups:web groups:x nodes:n1",
    ),
    "one more in a node's own list": (
        {"nodesets/s.yaml": "nodes: n[1-3]\ngroups: [web]\n", "nodes/n1.yaml": "groups: [x]\n"},
        {"nodesets/s.yaml": "nodes: n[1-3]\ngroups: [web]\n", "nodes/n1.yaml": "groups: [x, y]\n"},
        "groups:y nodes:n1",
    ),
    "an override for one node more": (
        {"overrides/o.yaml": f"nodes: n1\n{END}params: {{X: 1}}\nfeatures: [F]\n"},
        {"overrides/o.yaml": f"nodes: n[1-2]\n{END}params: {{X: 1}}\nfeatures: [F]\n"},
        "features:F nodes:n2 params:X",
    ),
    "an override for others that are chosen": (
        {"overrides/o.yaml": f"where: 'true'\n{END}params: {{X: 1}}\n"},
        {"overrides/o.yaml": f"where: 'false'\n{END}params: {{X: 1}}\n"},
        "nodes:* params:X",
    ),
    "an override for longer": (
        {"overrides/o.yaml": f"nodes: n1\n{END}params: {{X: 1}}\n"},
        {"overrides/o.yaml": "nodes: n1\nreason: x\nuntil: 2031-01-01\nparams: {X: 1}\n"},
        "nodes:n1 params:X",
    ),
    "an override of named nodes": (
        {},
        {"overrides/o.yaml": f"nodes: n1\n{END}params: {{X: 1}}\n"},
        "nodes:n1 params:X",
    ),
    "an override of nodes that are chosen": (
        {},
        {"overrides/o.yaml": f"where: 'true'\n{END}files: {{/etc/x: {{text: x}}}}\n"},
        "files:/etc/x nodes:*",
    ),
    "a hold": ({"holds/h.yaml": f"nodes: n[1-2]\n{END}commit: abc1234\n"}, {}, "nodes:n1 nodes:n2"),
    "a key": ({}, {"keys/k.txt": KEY}, "nodes:n1"),
    "a key in another file": ({"keys/k.txt": KEY}, {"keys/l.txt": f"# One.\n{KEY}"}, ""),
    "a template, and what includes it": (
        {**INCLUDED, "templates/m.j2": "a"},
        {**INCLUDED, "templates/m.j2": "b"},
        "files:/etc/motd templates:m.j2",
    ),
    "a template that some other may include": (
        {**CHOSEN, "templates/m.j2": "a"},
        {**CHOSEN, "templates/m.j2": "b"},
        "files:/etc/motd templates:m.j2",
    ),
    **{
        f"a template that may be what {text} gives": (
            {**CHOSEN, "templates/n.j2": f"{{% {text} %}}", "templates/m.j2": "a"},
            {**CHOSEN, "templates/n.j2": f"{{% {text} %}}", "templates/m.j2": "b"},
            "files:/etc/motd templates:m.j2",
        )
        for text in COMPUTED
    },
    "a template that others do not include": (
        {**INCLUDED, "templates/n.j2": "{%- from 'o.j2' import x +%}m", "templates/m.j2": "a"},
        {**INCLUDED, "templates/n.j2": "{%- from 'o.j2' import x +%}m", "templates/m.j2": "b"},
        "templates:m.j2",
    ),
    "what is taken as it is": (
        {"features/A.yaml": "files: {/etc/motd: {source: motd}}\n", "files/motd": "a"},
        {"features/A.yaml": "files: {/etc/motd: {source: motd}}\n", "files/motd": "b"},
        "files:/etc/motd templates:motd",
    ),
    "a name that an instance makes": (
        {"features/A.yaml": "include: [B]\n", "features/B.yaml": "params: {'SLOT_${as}': 1, Q: 1}\n"},
        {
            "features/A.yaml": "include: [B]\n",
            "features/B.yaml": "params: {'SLOT_${as}': 1, Q: 1}\n",
            "nodes/n1.yaml": "features: [{feature: A, as: x}]\n",
        },
        "features:A nodes:n1 params:SLOT_*",
    ),
    "what is encrypted": (
        {"secrets/s.yaml": SECRET, "secrets/s.age": "x"},
        {"secrets/s.yaml": SECRET, "secrets/s.age": "y"},
        "secrets:s",
    ),
    "who may have a secret": (
        {"secrets/s.yaml": SECRET},
        {"secrets/s.yaml": SECRET.replace("true", "false")},
        "secrets:s",
    ),
    "a secret that moves": (
        {"secrets/s.yaml": SECRET, "secrets/s.age": "x"},
        {"secrets/a/s.yaml": SECRET, "secrets/a/s.age": "x"},
        "",
    ),
    "a subsystem": (
        {},
        {"subsystems/s.yaml": "subsystems: {startd: {description: S.}}\n"},
        "subsystems:startd",
    ),
    "rules, which are layers, too": (
        {},
        {
            "rules/r.yaml": "rules:\n  a: {set: {P: 1}}\n  b: {install: F}\n  c: {domain: {Q: [1]}}\n"
            "  d: {domain: {attribute: [1]}, over: F}\n  e: {limit: G, count: {max: 1}}\n"
        },
        "features:F params:P params:Q rules:a rules:b rules:c rules:d rules:e",
    ),
    "a rule that moves": (
        {"rules/r.yaml": "rules: {c: {domain: {Q: [1]}}}\n"},
        {"rules/s.yaml": "\n\nrules: {c: {domain: {Q: [1]}}}\n"},
        "",
    ),
    "what was decided for a rule that nobody knows": (
        {},
        {"allocations/a.yaml": "install: [n1]\n"},
        "nodes:n1 rules:a",
    ),
    "where a feature goes": (
        {**DECIDED, "allocations/a.yaml": "install: [n1, n2]\n"},
        {**DECIDED, "allocations/a.yaml": "install: [n3/x, n2]\n"},
        "features:F nodes:n1 nodes:n3 rules:a",
    ),
    "values that were decided": (
        {**DECIDED, "allocations/d.yaml": "values: {n1: {Q: 1}, n2: {Q: 2}}\n"},
        {**DECIDED, "allocations/d.yaml": "values: {n1: {Q: 1}, n2: {Q: 1}}\n"},
        "nodes:n2 params:Q rules:d",
    ),
    "attributes that were decided": (
        {**DECIDED, "allocations/o.yaml": "values: {n1/x: {address: 1}}\n"},
        {**DECIDED, "allocations/o.yaml": "values: {n1/x: {address: 2}}\n"},
        "nodes:n1 rules:o",
    ),
    "whether values are unique": (
        {"rules/r.yaml": "rules: {c: {domain: {Q: [1]}}}\n"},
        {"rules/r.yaml": "rules: {c: {domain: {Q: [1]}, unique: fleet}}\n"},
        "params:Q rules:c",
    ),
    "which group all are in": (
        {},
        {"gitcfg.yaml": "format: 1\ndefault_group: a\n"},
        "groups:a groups:default nodes:* rules:gitcfg.yaml",
    ),
    "who walks in": (
        {},
        {"gitcfg.yaml": "format: 1\nwalk_in: {groups: [a]}\n"},
        "groups:a rules:gitcfg.yaml",
    ),
    "settings that nobody can read": ({}, {"gitcfg.yaml": "format: [\n"}, "rules:gitcfg.yaml"),
    "a format that is not read: all is gone": (
        {"groups/g.yaml": "params: {P: 1}\n"},
        {"groups/g.yaml": "params: {P: 1}\n", "gitcfg.yaml": NEWER},
        "groups:g params:P rules:gitcfg.yaml",
    ),
    "settings and signers": (
        {"gitcfg.yaml": "format: 1\n", "allowed_signers": "# Nobody.\n"},
        {"gitcfg.yaml": "format: 1\nratchet: true\n", "allowed_signers": "a ssh-ed25519 AAAA\n"},
        "rules:allowed_signers rules:gitcfg.yaml",
    ),
    "a definition that nobody can read": (
        {"features/A.yaml": "params: ["},
        {"features/A.yaml": "params: [1"},
        "features:A",
    ),
    "definitions that nobody can read": (
        {"parameters/a.yaml": "parameters: {X: {description: X.}}\n"},
        {"parameters/a.yaml": "parameters: ["},
        "params:* params:X",
    ),
    "of two of one name the one that counts": (
        {"features/a/A.yaml": "params: {P: 1}\n", "features/b/A.yaml": "params: {P: 2}\n"},
        {"features/b/A.yaml": "params: {P: 2}\n"},
        "features:A params:P",
    ),
    "what gitcfg does not read": ({"README.md": "a"}, {"README.md": "b"}, ""),
}

MERGES: dict[str, tuple[Files, Files, Files, str]] = {
    "what both sides brought": (
        {"groups/g.yaml": "features: [A]\nparams: {P: 1, Q: 2}\n"},
        {"groups/g.yaml": "features: [B]\nparams: {P: 2, Q: 1}\n"},
        {"groups/g.yaml": "features: [A, B]\nparams: {P: 1, Q: 1}\n"},
        "",
    ),
    "one side's word": (
        {"groups/g.yaml": "params: {P: 1}\n"},
        {"groups/g.yaml": "params: {P: 2}\n"},
        {"groups/g.yaml": "params: {P: 2}\n"},
        "",
    ),
    "a word of its own": (
        {"groups/g.yaml": "params: {P: 1}\n"},
        {"groups/g.yaml": "params: {P: 2}\n"},
        {"groups/g.yaml": "params: {P: 3}\n"},
        "groups:g params:P",
    ),
    "a thing of its own": ({}, {}, {"nodes/n1.yaml": "{}\n"}, "nodes:n1"),
}
