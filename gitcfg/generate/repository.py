"""Random repositories as files, one after another, with mistakes on purpose if they are wanted."""

from collections.abc import Callable, Iterable, Iterator, Mapping
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

# Mistakes on purpose: for a code, the few files that make a sound repository have that finding.

Files = dict[str, str]
Planter = Callable[[], Files]


def feature(name: str, **said: object) -> Files:
    """A feature's file."""
    return {f"features/{name}.yaml": to_yaml({"description": "Planted.", **said})}


def parameters(code: str, **declared: dict[str, object]) -> Files:
    """Declarations of parameters, which the code's mistake alone uses."""
    described = {name: {"description": "Planted.", **said} for name, said in declared.items()}
    return {f"parameters/mistake-{code}.yaml": to_yaml({"parameters": described})}


def node(code: str, **said: object) -> Files:
    """A node for the mistake, with the facts that every generated node has."""
    return {f"nodes/mistake-{code}.example.com.yaml": to_yaml({**said, "facts": draw_facts(Random(code))})}


# Mistakes in single files: 1xx.


def not_yaml() -> Files:
    """A list that is not closed."""
    return {"features/mistake-101.yaml": "description: Planted.\ndepends: [\n"}


def unknown_key() -> Files:
    """A key that features have not."""
    return feature("mistake-102", paramters={"A": "1"})


def same_name_twice() -> Files:
    """Folders only sort files: the same name in two of them is one name."""
    text = "description: Planted.\n"
    return {"features/mistake-103.yaml": text, "features/elsewhere/mistake-103.yaml": text}


def format_of_tomorrow() -> Files:
    """A format that no program reads yet."""
    return {"gitcfg.yaml": "format: 1000000\n"}


def not_supported() -> Files:
    """Something for a node's packages and services, which comes later."""
    return feature("mistake-105", resources=[{"package": "ntp"}])


def nothing_after_the_colon() -> Files:
    """A description that was not written."""
    return {"features/mistake-106.yaml": "description:\nparams: {}\n"}


FILES: Mapping[str, Planter] = {
    "GC101": not_yaml,
    "GC102": unknown_key,
    "GC103": same_name_twice,
    "GC104": format_of_tomorrow,
    "GC105": not_supported,
    "GC106": nothing_after_the_colon,
}


# Mistakes in what definitions say of each other: 2xx.


def missing_feature() -> Files:
    """An include of what nobody wrote."""
    return feature("mistake-201", include=["mistake-201-nowhere"])


def circle_of_inclusion() -> Files:
    """Two features that include each other."""
    return feature("mistake-202", include=["mistake-202-b"]) | feature(
        "mistake-202-b", include=["mistake-202"]
    )


def circle_of_dependence() -> Files:
    """Two features that depend on each other."""
    return feature("mistake-203", depends=["mistake-203-b"]) | feature(
        "mistake-203-b", depends=["mistake-203"]
    )


def conflict_with_its_own() -> Files:
    """A feature that includes what it conflicts with."""
    included = feature("mistake-204-b")
    return feature("mistake-204", include=["mistake-204-b"], conflicts=["mistake-204-b"]) | included


def parameter_against_its_own() -> Files:
    """A parameter that depends on what it conflicts with."""
    other = ["MISTAKE_205_B"]
    return parameters("205", MISTAKE_205={"depends": other, "conflicts": other}, MISTAKE_205_B={})


def wrong_type() -> Files:
    """A word where a number belongs."""
    return parameters("206", MISTAKE_206={"type": "integer"}) | feature(
        "mistake-206", params={"MISTAKE_206": "many"}
    )


def useless_default() -> Files:
    """A default for what each node must say itself."""
    return parameters("207", MISTAKE_207={"type": "string", "must_change": True, "default": "x"})


def broken_template() -> Files:
    """A condition that does not end."""
    entry = {"/etc/mistake-208": {"template": "mistake-208.j2"}}
    return feature("mistake-208", files=entry) | {"templates/mistake-208.j2": "{% if params %}\n"}


def two_contents() -> Files:
    """A file entry that says twice what is in the file."""
    return feature(
        "mistake-209", files={"/etc/mistake-209": {"text": "a\n", "format": "env", "params": ["*"]}}
    )


def secret_without_content() -> Files:
    """A secret with recipients, but without its encrypted file."""
    said, _ = secret("mistake-210", 1, Random("210").randbytes(160))
    return dict([said])


def agent_stopped() -> Files:
    """A subsystem that ends the program which looks after the node."""
    stopping = {"mistake-213": {"description": "Planted.", "stop": ["systemctl", "stop", "gitcfg-agent"]}}
    return {"subsystems/mistake-213.yaml": to_yaml({"subsystems": stopping})}


DEFINITIONS: Mapping[str, Planter] = {
    "GC201": missing_feature,
    "GC202": circle_of_inclusion,
    "GC203": circle_of_dependence,
    "GC204": conflict_with_its_own,
    "GC205": parameter_against_its_own,
    "GC206": wrong_type,
    "GC207": useless_default,
    "GC208": broken_template,
    "GC209": two_contents,
    "GC210": secret_without_content,
    "GC213": agent_stopped,
}


# Mistakes that show on nodes only: 3xx, and 4xx without rules. Most bring a node of their own.


def missing_dependence() -> Files:
    """A node has a feature, but not what that depends on."""
    features = feature("mistake-301", depends=["mistake-301-b"]) | feature("mistake-301-b")
    return features | node("301", features=["mistake-301"])


def conflicting_features() -> Files:
    """A node has two features that conflict."""
    features = feature("mistake-302", conflicts=["mistake-302-b"]) | feature("mistake-302-b")
    return features | node("302", features=["mistake-302", "mistake-302-b"])


def missing_parameter() -> Files:
    """A node binds a parameter, but not what that depends on."""
    declared = parameters("303", MISTAKE_303={"depends": ["MISTAKE_303_B"]}, MISTAKE_303_B={})
    return declared | node("303", params={"MISTAKE_303": "x"})


def conflicting_parameters() -> Files:
    """A node binds two parameters that conflict."""
    declared = parameters("304", MISTAKE_304={"conflicts": ["MISTAKE_304_B"]}, MISTAKE_304_B={})
    return declared | node("304", params={"MISTAKE_304": "x", "MISTAKE_304_B": "y"})


def nothing_said() -> Files:
    """A node binds what must be changed to nothing."""
    declared = parameters("305", MISTAKE_305={"type": "string", "must_change": True})
    return declared | node("305", params={"MISTAKE_305": None})


def too_many_together() -> Files:
    """Two layers add an item each, and only one is allowed."""
    declared = parameters("306", MISTAKE_306={"type": "list", "schema": {"maxItems": 1}})
    below = feature("mistake-306", params={"MISTAKE_306": {"$append": "a"}})
    return declared | below | node("306", features=["mistake-306"], params={"MISTAKE_306": {"$append": "b"}})


def newline_in_env() -> Files:
    """Two lines in a file of one line a parameter."""
    entry = {"/etc/mistake-309": {"format": "env", "params": ["MISTAKE_309"]}}
    declared = parameters("309", MISTAKE_309={"type": "string"})
    return declared | node("309", params={"MISTAKE_309": "a\nb"}, files=entry)


def name_inside_name() -> Files:
    """A name that would be both a value and a table."""
    declared = parameters("310", **{"mistake310": {}, "mistake310.b": {}})
    entry = {"/etc/mistake-310": {"format": "json", "params": ["mistake310*"]}}
    return declared | node("310", params={"mistake310": "x", "mistake310.b": "y"}, files=entry)


def text_that_does_not_parse() -> Files:
    """A file that is called JSON and is none."""
    return node("307", files={"/etc/generated/mistake.json": {"text": "{"}})


def missing_fact() -> Files:
    """A node is asked for a fact that it has not."""
    declared = parameters("311", MISTAKE_311={"type": "string"})
    return declared | node("311", params={"MISTAKE_311": {"$fact": "mistake-311"}})


def unanswerable_question() -> Files:
    """An override for the nodes with a fact of some value, and no node has such a fact."""
    said = {
        "where": 'node.facts.mistake == "408"',
        "reason": "planted",
        "until": END,
        "params": {"MISTAKE_408": "x"},
    }
    return {"overrides/mistake-408.yaml": to_yaml(said)} | parameters("408", MISTAKE_408={})


def circle_of_collecting() -> Files:
    """A node has a feature that collects from all who have it what these collect by it."""
    declared = parameters("406", MISTAKE_406={"type": "list"})
    collected = {"$collect": {"param": "MISTAKE_406", "feature": "mistake-406"}}
    return (
        declared
        | feature("mistake-406", params={"MISTAKE_406": collected})
        | node("406", features=["mistake-406"])
    )


def forbidden_secret() -> Files:
    """A node is given a secret that no node may have."""
    declared = parameters("308", MISTAKE_308={"type": "string", "secret": True})
    files = dict(secret("mistake-308", 1, Random("308").randbytes(160), "false"))
    return declared | files | node("308", params={"MISTAKE_308": {"$secret": "mistake-308"}})


NODES: Mapping[str, Planter] = {
    "GC301": missing_dependence,
    "GC302": conflicting_features,
    "GC303": missing_parameter,
    "GC304": conflicting_parameters,
    "GC305": nothing_said,
    "GC306": too_many_together,
    "GC307": text_that_does_not_parse,
    "GC308": forbidden_secret,
    "GC309": newline_in_env,
    "GC310": name_inside_name,
    "GC311": missing_fact,
    "GC406": circle_of_collecting,
    "GC408": unanswerable_question,
}


# Mistakes that rules find, and in rules themselves: 4xx. Each is about nodes of its own.


def nobody_decided() -> Files:
    """One node should have a feature, and it was not decided which."""
    rule = {"install": "mistake-401", "count": 1, "where": _only("401")}
    return feature("mistake-401") | node("401") | _rules("401", rule)


def broken_invariant() -> Files:
    """A node has a label that it must not have."""
    rule = {"require": '!("mistake" in node.labels)', "where": _only("402"), "message": "planted"}
    return node("402", labels=["mistake"]) | _rules("402", rule)


def decided_for_nobody() -> Files:
    """Something was decided for a rule that is gone."""
    return {"allocations/mistake-403.yaml": to_yaml({"install": ["mistake-403.example.com"]})}


def value_outside() -> Files:
    """A node binds a value that its domain does not have."""
    declared = parameters("404", MISTAKE_404={"type": "integer"})
    rule = {"domain": {"MISTAKE_404": ["1-1023"]}, "where": _only("404")}
    return declared | node("404", params={"MISTAKE_404": 1024}) | _rules("404", rule)


def circle_of_rules() -> Files:
    """Two rules install what the other asks for."""
    features = feature("mistake-407") | feature("mistake-407-b")
    first = {"install": "mistake-407", "where": '"mistake-407-b" in node.features'}
    second = {"install": "mistake-407-b", "where": '"mistake-407" in node.features'}
    return features | _rules("407", first, second)


def _only(code: str) -> str:
    """A condition that holds on the mistake's own node."""
    return f'node.name == "mistake-{code}.example.com"'


def _rules(code: str, *rules: Mapping[str, object]) -> Files:
    named = {f"mistake-{code}{'-b' * number}": rule for number, rule in enumerate(rules)}
    return {f"rules/mistake-{code}.yaml": to_yaml({"rules": named})}


RULES: Mapping[str, Planter] = {
    "GC401": nobody_decided,
    "GC402": broken_invariant,
    "GC403": decided_for_nobody,
    "GC404": value_outside,
    "GC407": circle_of_rules,
}


# The mistakes by code.

MISTAKES: Mapping[str, Planter] = {**FILES, **DEFINITIONS, **NODES, **RULES}


def plant_mistakes(codes: Iterable[str]) -> dict[str, str]:
    """Return the files to add, or to replace, so that these codes are found. Raise GitcfgError for others."""
    found: dict[str, str] = {}
    for code in codes:
        if code not in MISTAKES:
            raise GitcfgError(f"There is no mistake for {code}.", f"There are {', '.join(MISTAKES)}.")
        found.update(MISTAKES[code]())
    return found


# The files of a repository.


def files(options: Options) -> Iterator[tuple[str, str]]:
    """Return path and YAML text of every file, one at a time. Raise GitcfgError if options are impossible."""
    validate(options)
    mistakes = plant_mistakes(options.mistakes)
    drawn = plan_repository(options)
    layers = (feature_files, group_files, node_files, override_files)
    parts = (parameter_files, subsystem_file, *layers, secret_files)
    return _with(mistakes, chain([settings(options)], chain.from_iterable(part(drawn) for part in parts)))


def _with(mistakes: dict[str, str], sound: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Return the sound files, as far as no mistake replaces them, then those that mistakes add."""
    for path, text in sound:
        yield path, mistakes.pop(path, text)
    yield from mistakes.items()


def repository(options: Options) -> Mapping[str, str]:
    """Return all files at once, path to YAML text, in the order in which they were written."""
    return dict(files(options))


def write(options: Options, folder: Path) -> int:
    """Write all files below a folder and say how many. Other files that stand there stay."""
    count = 0
    for path, text in files(options):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
        count += 1
    return count
