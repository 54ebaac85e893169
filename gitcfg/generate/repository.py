"""Random repositories as files, one after another, with deliberate mistakes on request."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from random import Random

from gitcfg.generate.files import (
    END,
    feature_files,
    group_files,
    node_files,
    override_files,
    parameter_files,
    secret,
    secret_files,
    settings,
    subsystem_file,
    to_yaml,
)
from gitcfg.generate.options import Options, validate
from gitcfg.generate.plan import draw_facts, plan_repository
from gitcfg.model import GitcfgError

Files = dict[str, str]


def _feature(name: str, **content: object) -> Files:
    return {f"features/{name}.yaml": to_yaml({"description": "Planted.", **content})}


def _parameters(code: str, **declared: dict[str, object]) -> Files:
    """Return declarations of parameters that only the mistake with this code uses."""
    described = {name: {"description": "Planted.", **content} for name, content in declared.items()}
    return {f"parameters/mistake-{code}.yaml": to_yaml({"parameters": described})}


def _node(code: str, **content: object) -> Files:
    """Return a node for the mistake, with the facts that every generated node has."""
    return {f"nodes/mistake-{code}.example.com.yaml": to_yaml({**content, "facts": draw_facts(Random(code))})}


def _rules(code: str, *rules: Mapping[str, object]) -> Files:
    named = {f"mistake-{code}{'-b' * number}": rule for number, rule in enumerate(rules)}
    return {f"rules/mistake-{code}.yaml": to_yaml({"rules": named})}


def _is_node(code: str) -> str:
    """Return a condition that is true only on the mistake's own node."""
    return f'node.name == "mistake-{code}.example.com"'


def _secret(code: str, condition: str = "true") -> Files:
    return dict(secret(f"mistake-{code}", 1, Random(code).randbytes(160), condition))


MISTAKES: Mapping[str, Files] = {
    # Mistakes in single files.
    "GC101": {"features/mistake-101.yaml": "description: Planted.\ndepends: [\n"},
    "GC102": _feature("mistake-102", paramters={"A": "1"}),
    "GC103": {  # folders only organize files: the same name in two of them is one name
        "features/mistake-103.yaml": "description: Planted.\n",
        "features/elsewhere/mistake-103.yaml": "description: Planted.\n",
    },
    "GC104": {"gitcfg.yaml": "format: 1000000\n"},
    "GC105": _feature("mistake-105", resources=[{"package": "ntp"}]),
    "GC106": {"features/mistake-106.yaml": "description:\nparams: {}\n"},
    # Mistakes in how definitions refer to each other.
    "GC201": _feature("mistake-201", include=["mistake-201-nowhere"]),
    "GC202": _feature("mistake-202", include=["mistake-202-b"])
    | _feature("mistake-202-b", include=["mistake-202"]),
    "GC203": _feature("mistake-203", depends=["mistake-203-b"])
    | _feature("mistake-203-b", depends=["mistake-203"]),
    "GC204": _feature("mistake-204", include=["mistake-204-b"], conflicts=["mistake-204-b"])
    | _feature("mistake-204-b"),
    "GC205": _parameters(
        "205",
        MISTAKE_205={"depends": ["MISTAKE_205_B"], "conflicts": ["MISTAKE_205_B"]},
        MISTAKE_205_B={},
    ),
    "GC206": _parameters("206", MISTAKE_206={"type": "integer"})
    | _feature("mistake-206", params={"MISTAKE_206": "many"}),
    "GC207": _parameters("207", MISTAKE_207={"type": "string", "must_change": True, "default": "x"}),
    "GC208": _feature("mistake-208", files={"/etc/mistake-208": {"template": "mistake-208.j2"}})
    | {"templates/mistake-208.j2": "{% if params %}\n"},
    "GC209": _feature(
        "mistake-209", files={"/etc/mistake-209": {"text": "a\n", "format": "env", "params": ["*"]}}
    ),
    # A secret without its encrypted file.
    "GC210": {path: text for path, text in _secret("210").items() if path.endswith(".yaml")},
    "GC213": {
        "subsystems/mistake-213.yaml": to_yaml(
            {
                "subsystems": {
                    "mistake-213": {"description": "Planted.", "stop": ["systemctl", "stop", "gitcfg-agent"]}
                }
            }
        )
    },
    # Mistakes that only nodes show; most have a node of their own.
    "GC301": _feature("mistake-301", depends=["mistake-301-b"])
    | _feature("mistake-301-b")
    | _node("301", features=["mistake-301"]),
    "GC302": _feature("mistake-302", conflicts=["mistake-302-b"])
    | _feature("mistake-302-b")
    | _node("302", features=["mistake-302", "mistake-302-b"]),
    "GC303": _parameters("303", MISTAKE_303={"depends": ["MISTAKE_303_B"]}, MISTAKE_303_B={})
    | _node("303", params={"MISTAKE_303": "x"}),
    "GC304": _parameters("304", MISTAKE_304={"conflicts": ["MISTAKE_304_B"]}, MISTAKE_304_B={})
    | _node("304", params={"MISTAKE_304": "x", "MISTAKE_304_B": "y"}),
    "GC305": _parameters("305", MISTAKE_305={"type": "string", "must_change": True})
    | _node("305", params={"MISTAKE_305": None}),
    "GC306": _parameters("306", MISTAKE_306={"type": "list", "schema": {"maxItems": 1}})
    | _feature("mistake-306", params={"MISTAKE_306": {"$append": "a"}})
    | _node("306", features=["mistake-306"], params={"MISTAKE_306": {"$append": "b"}}),
    "GC307": _node("307", files={"/etc/generated/mistake.json": {"text": "{"}}),
    "GC308": _parameters("308", MISTAKE_308={"type": "string", "secret": True})
    | _secret("308", "false")
    | _node("308", params={"MISTAKE_308": {"$secret": "mistake-308"}}),
    "GC309": _parameters("309", MISTAKE_309={"type": "string"})
    | _node(
        "309",
        params={"MISTAKE_309": "a\nb"},
        files={"/etc/mistake-309": {"format": "env", "params": ["MISTAKE_309"]}},
    ),
    "GC310": _parameters("310", **{"mistake310": {}, "mistake310.b": {}})
    | _node(
        "310",
        params={"mistake310": "x", "mistake310.b": "y"},  # a name that would be both a value and a table
        files={"/etc/mistake-310": {"format": "json", "params": ["mistake310*"]}},
    ),
    "GC311": _parameters("311", MISTAKE_311={"type": "string"})
    | _node("311", params={"MISTAKE_311": {"$fact": "mistake-311"}}),
    "GC406": _parameters("406", MISTAKE_406={"type": "list"})
    | _feature(
        "mistake-406",
        params={"MISTAKE_406": {"$collect": {"param": "MISTAKE_406", "feature": "mistake-406"}}},
    )
    | _node("406", features=["mistake-406"]),
    "GC408": {
        "overrides/mistake-408.yaml": to_yaml(
            {
                "where": 'node.facts.mistake == "408"',  # and no node has such a fact
                "reason": "planted",
                "until": END,
                "params": {"MISTAKE_408": "x"},
            }
        )
    }
    | _parameters("408", MISTAKE_408={}),
    # Mistakes in rules, on nodes of their own.
    "GC401": _feature("mistake-401")
    | _node("401")
    | _rules("401", {"install": "mistake-401", "count": 1, "where": _is_node("401")}),
    "GC402": _node("402", labels=["mistake"])
    | _rules(
        "402",
        {"require": '!("mistake" in node.labels)', "where": _is_node("402"), "message": "planted"},
    ),
    "GC403": {"allocations/mistake-403.yaml": to_yaml({"install": ["mistake-403.example.com"]})},
    "GC404": _parameters("404", MISTAKE_404={"type": "integer"})
    | _node("404", params={"MISTAKE_404": 1024})
    | _rules("404", {"domain": {"MISTAKE_404": ["1-1023"]}, "where": _is_node("404")}),
    "GC407": _feature("mistake-407")
    | _feature("mistake-407-b")
    | _rules(
        "407",
        {"install": "mistake-407", "where": '"mistake-407-b" in node.features'},
        {"install": "mistake-407-b", "where": '"mistake-407" in node.features'},
    ),
}
"""For each code of a finding, the few files that cause it in a valid repository."""


def plant_mistakes(codes: Iterable[str]) -> Files:
    """Return the files to add, or to replace, so that these codes are found.

    Raise GitcfgError for other codes.
    """
    found: Files = {}
    for code in codes:
        if code not in MISTAKES:
            hint = f"Use one of {', '.join(sorted(MISTAKES))}."
            raise GitcfgError(f"The code {code} has no mistake.", hint)
        found.update(MISTAKES[code])
    return found


def files(options: Options) -> Iterator[tuple[str, str]]:
    """Return path and YAML text of every file, one at a time. Raise GitcfgError if options are impossible."""
    validate(options)
    mistakes = plant_mistakes(options.mistakes)
    plan = plan_repository(options)
    sound = chain(
        [settings(options)],
        parameter_files(plan),
        subsystem_file(plan),
        feature_files(plan),
        group_files(plan),
        node_files(plan),
        override_files(plan),
        secret_files(plan),
    )
    return _replace_files(sound, mistakes)


def _replace_files(sound: Iterator[tuple[str, str]], mistakes: Files) -> Iterator[tuple[str, str]]:
    """Yield the valid files that no mistake replaces, then those of the mistakes."""
    for path, text in sound:
        yield path, mistakes.pop(path, text)
    yield from mistakes.items()


def repository(options: Options) -> Mapping[str, str]:
    """Return all files at once, path to YAML text, in the order in which they were written."""
    return dict(files(options))


def write(options: Options, folder: Path) -> int:
    """Write all files below a folder, and return their number. Other files in it are kept."""
    count = 0
    for path, text in files(options):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
        count += 1
    return count
