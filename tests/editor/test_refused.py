"""What the checks find wrong in one file alone, the schemas refuse as far as a schema can say it."""

import pytest

from gitcfg.git.tree import DictTree
from tests.editor.judged import refused, suspected

SOUND = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": """
defaults: {description: One.}
parameters:
  COUNT: {type: integer, schema: {minimum: 1}}
  COLOUR: {type: string, schema: {enum: [red, green]}}
  LIST: {type: list, separator: comma}
  RULE: {type: expression}
  MAP: {type: map}
  ON: {type: boolean}
  CPUS: {type: integer, macros: condor}
  "SLOT_*": {type: integer}
  "SLOT_*_ON": {type: boolean}
  SLOT_NAME: {type: path}
""",
    "subsystems/s.yaml": "subsystems: {one: {params: [COUNT], features: [A], covers: ['*']}}\n",
    "features/A.yaml": "params: {LIST: a}\n",
    "features/B.yaml": "include: [{feature: A, as: 'x[1-2]', with: {n: 1}}]\n",
    "groups/default.yaml": "description: All.\n",
    "groups/racks/g.yaml": "features: [B]\n",
    "templates/motd.j2": "hello\n",
    "files/plain": "hello\n",
    "nodes/n1.yaml": "groups: [g]\nfacts: {site: lab}\n",
    "nodesets/set.yaml": "nodes: m[1-3]\nlabels: [ssd]\n",
}
WRONG = {
    "groups/a.yaml": [
        *("features: [C]", "features: [{feature: C}]", "features: [A, A]", "features: [{feature: A, at: x}]"),
        *("params: {NONE: 1}", "params: {COUNT: many}", "params: {COUNT: 0}", "params: {COUNT: [1]}"),
        *("params: {COUNT: {$append: 1}}", "params: {COUNT: {$default: 0}}", "params: {COLOUR: blue}"),
        *("params: {LIST: {a: 1}}", "params: {LIST: {$and: a}}", "params: {RULE: {$append: a}}"),
        *("params: {RULE: {$and: [a]}}", "params: {MAP: text}", "params: {MAP: {$merge: 1}}"),
        *("params: {ON: perhaps}", "params: {CPUS: many}", "params: {SLOT_1: big}", "params: {SLOT_1_ON: 1}"),
        *(
            "params: {SLOT_NAME: [a]}",
            "params: {COUNT: {$set: 1}}",
            "params: {MAP: {$merge: {}, $unset: true}}",
        ),
        *("files: {/a: {template: none.j2}}", "files: {/a: {source: none}}", "files: {/a: {mode: '0644'}}"),
        *("files: {/a: {format: condr, params: ['*']}}", "files: {/a: {format: json, params: [NONE]}}"),
        *("files: {/a: {text: x, source: plain}}", "files: {/a: {text: x, mode: '999'}}", "nodes: [n1]"),
    ],
    "features/C.yaml": ["depends: [D]", "conflicts: [D]", "after: [D]", "include: [D]", "depends: [A, A]"],
    "nodes/n2.yaml": [
        *("groups: [none]", "groups: [default]", "groups: {$append: [none]}", "without: {$remove: [C]}"),
        *("features: {$prepend: [C]}", "labels: [a, a]", "state: old"),
    ],
    "nodesets/t.yaml": ["{nodes: 'o[1-2]', groups: [none]}", "groups: [g]"],
    "overrides/o.yaml": ["{nodes: n1, reason: x, until: 2030-01-01, without: [C]}", "{nodes: n1}"],
    "holds/h.yaml": [
        "{nodes: n1, reason: x, until: 2030-01-01}",
        "{commit: abc, nodes: n1, reason: x, until: 2030-01-01}",
    ],
    "parameters/q.yaml": [
        *("parameters: {P: {depends: [NONE]}}", "parameters: {P: {type: integer, default: a}}"),
        *(
            "parameters: {P: {must_change: true, default: a}}",
            "parameters: {'1P': {}}",
            "parameters: {P: {typ: map}}",
        ),
    ],
    "subsystems/t.yaml": [
        f"subsystems: {{two: {{{said}: [none]}}}}" for said in ("params", "features", "covers")
    ],
}
RIGHT = {
    "groups/a.yaml": [
        *(
            "features: [A, {feature: A, as: x, with: {n: 2}}]",
            "params: {COUNT: '7'}",
            "params: {COUNT: null}",
        ),
        *(
            "params: {COUNT: {$fact: site}}",
            "params: {COUNT: {$unset: true}}",
            "params: {LIST: {$append: [a]}}",
        ),
        *(
            "params: {LIST: 7}",
            "params: {RULE: {$or: b}}",
            "params: {MAP: {$merge: {a: 1}}}",
            "params: {ON: 'TRUE'}",
        ),
        *("params: {CPUS: '$(DETECTED)'}", "params: {SLOT_1: 017, SLOT_1_ON: true, SLOT_NAME: /a}"),
        *(
            "files: {/a: null, /b: {template: motd.j2}}",
            "files: {/a: {format: json, params: [SLOT_7, '!C*']}}",
        ),
    ],
    "features/C.yaml": ['params: {"SLOT_${as}": "${with.n}", COUNT: "${with.n}"}'],
    "nodes/n2.yaml": ["{groups: {$append: [g]}, labels: [hdd], state: retired, facts: {new: [1]}}"],
    "subsystems/t.yaml": ["subsystems: {two: {params: ['S*', COUNT], covers: [one]}}"],
}


@pytest.mark.parametrize(("path", "text"), [(path, text) for path, texts in WRONG.items() for text in texts])
def test_a_mistake_is_refused(path: str, text: str) -> None:
    tree = DictTree({**SOUND, path: text})
    assert path in suspected(tree), "the checks find nothing wrong"
    assert list(refused(tree)) == [path]


@pytest.mark.parametrize(("path", "text"), [(path, text) for path, texts in RIGHT.items() for text in texts])
def test_what_is_right_is_taken(path: str, text: str) -> None:
    assert refused(DictTree({**SOUND, path: text})) == {}


def test_a_parameter_nobody_declares_is_taken_where_that_is_allowed() -> None:
    said = {**SOUND, "groups/a.yaml": "params: {NONE: 1}\n"}
    for undeclared, wrong in (("error", True), ("warning", False), ("allow", False)):
        settings = f"format: 1\nundeclared: {undeclared}\n"
        assert bool(refused(DictTree({**said, "gitcfg.yaml": settings}))) is wrong


def test_what_an_unreadable_file_may_declare_is_taken() -> None:
    said = {**SOUND, "groups/a.yaml": "params: {NONE: 1}\n", "parameters/q.yaml": "parameters: {\n"}
    assert refused(DictTree(said)) == {}
