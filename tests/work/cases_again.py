"""Changes after which less may be looked at than one would think: by name, files before and after."""

Files = dict[str, str]

BASE: Files = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": (
        "parameters:\n"
        "  X: {type: string, description: d, must_change: true}\n"
        "  '*_P': {type: integer, description: d}\n"
        "  '*oo': {type: string, description: d}\n"
    ),
    "features/I.yaml": "params: {'${as}_P': '${with.n}'}\n",
    "features/A.yaml": "depends: [B]\n",
    "features/B.yaml": "{}\n",
    "features/C.yaml": "{}\n",
    **{f"groups/g{number}.yaml": "{}\n" for number in range(6)},
    **{f"nodes/n{number:02}.yaml": f"groups: [g{number % 6}]\n" for number in range(30)},
}
TOUCHED = {"groups/g2.yaml": "description: other\n"}

_IDLE = {f"nodes/n{number:02}.yaml": "groups: [g3]\n" for number in range(30)} | {
    "groups/g1.yaml": "params: {X: a}\n",
    "groups/g2.yaml": "params: {X: b}\n",
    "nodes/n07.yaml": "groups: [g2, g1]\n",
}
_ASKED = {
    "groups/g1.yaml": "params: {X: null}\n",
    "groups/g3.yaml": "params: {X: null}\n",
    "nodes/n01.yaml": "groups: [g1]\n",
    "nodes/n09.yaml": "groups: [g1]\n",
    "nodes/n02.yaml": "groups: [g2, g1]\n",
    "nodes/n05.yaml": "groups: [g3]\n",
}
_JUDGED = {
    "gitcfg.yaml": "format: 1\n",
    "groups/g1.yaml": "files: {/etc/x.json: {template: t}}\n",
    "templates/t": "{\n{{ 1 }}\n",
}

CASES: dict[str, tuple[Files, Files]] = {
    "a new name differs only in case from one that only a node binds": (
        {"nodes/n07.yaml": "groups: [g1]\nparams: {Foo: x}\n"},
        {"groups/g2.yaml": "params: {foo: y}\n"},
    ),
    "a name no longer differs only in case": (
        {"nodes/n07.yaml": "groups: [g1]\nparams: {Foo: x}\n", "groups/g2.yaml": "params: {foo: y}\n"},
        {"groups/g2.yaml": "params: {}\n"},
    ),
    "a file takes what only a node binds": (
        {
            "gitcfg.yaml": "format: 1\nundeclared: allow\n",
            "groups/default.yaml": "files: {/etc/x: {format: json, params: [ODD]}}\n",
            "nodes/n07.yaml": "groups: [g1]\nparams: {ODD: 1}\n",
        },
        TOUCHED,
    ),
    "an instance that only a node has lacks an attribute": (
        {"nodes/n07.yaml": "groups: [g1]\nfeatures: [{feature: I, as: x}]\n"},
        TOUCHED,
    ),
    "an instance that only a node has does not fit": (
        {"nodes/n07.yaml": "groups: [g1]\nfeatures: [{feature: I, as: x, with: {n: text}}]\n"},
        TOUCHED,
    ),
    "an instance that only a set has does not fit": (
        {"nodesets/s.yaml": "nodes: m[1-3]\nfeatures: [{feature: I, as: x, with: {n: text}}]\n"},
        TOUCHED,
    ),
    "what a set binds does not fit": (
        {"nodesets/s.yaml": "nodes: m[1-3]\nparams: {a_P: {$append: x}}\n"},
        TOUCHED,
    ),
    "what is missing depends on something more": (
        {"nodes/n07.yaml": "groups: [g1]\nfeatures: [A]\n", "nodes/n08.yaml": "features: [B]\n"},
        {"features/B.yaml": "depends: [C]\n"},
    ),
    "the first of the nodes of which something is said is no longer one": (
        _ASKED,
        {"nodes/n01.yaml": "groups: [g4]\n"},
    ),
    "the first node of a class whose file is wrong leaves it": (
        _JUDGED,
        {"nodes/n01.yaml": "groups: [g4]\n"},
    ),
    "the only node on which a setting wins changes": (_IDLE, {"nodes/n07.yaml": "groups: [g1, g2]\n"}),
    "the only node on which a setting wins is retired": (
        _IDLE,
        {"nodes/n07.yaml": "groups: [g2, g1]\nstate: retired\n"},
    ),
    "a node of a set gets a file of its own": (
        {"nodesets/s.yaml": "nodes: m[1-3]\ngroups: [g1]\n"},
        {"nodes/m1.yaml": "{}\n", "nodes/M2.yaml": "{}\n"},
    ),
    "a node is defined twice": ({}, {"nodes/sub/n07.yaml": "{}\n"}),
    "one thing is wrong with two nodes": (
        {"nodes/n07.yaml": "groups: [nowhere]\n", "nodes/n08.yaml": "groups: [nowhere]\n"},
        {"nodes/n07.yaml": "groups: [g1]\n"},
    ),
}
