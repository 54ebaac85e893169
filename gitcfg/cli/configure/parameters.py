"""Steps of `gitcfg configure` about parameters: their values are asked for, checked, set and unset."""

import re
from collections.abc import Iterator

from msgspec.structs import replace
from rich.text import Text

from gitcfg.cli.configure.conversation import Conversation
from gitcfg.cli.configure.creation import create_parameter
from gitcfg.cli.configure.questions import Question, ask, ask_yes_no, find_name, unquote
from gitcfg.cli.trails import as_text
from gitcfg.edit.configure import Step, check_binding
from gitcfg.edit.yaml.changes import Given
from gitcfg.edit.yaml.tree import parse_value
from gitcfg.model import Finding, GitcfgError, Op, Undeclared
from gitcfg.model.names import PARAMETER
from gitcfg.model.text import safe

_NAMED = re.compile(rf"({PARAMETER.pattern})(?:=|\s+|$)(.*)", re.DOTALL)

_WHICH = Question(
    "Which parameter (Enter: none):",
    "A parameter to set here: its name, or `NAME VALUE`. `show parameters` lists them.",
)


def set_param(at: Conversation, text: str) -> bool:
    """Bind a parameter: `PARAM VALUE`, or ask for it; return False if nothing was done."""
    text = text or ask(at, _WHICH)
    if not text:
        return False
    found = _NAMED.fullmatch(text)
    if found is None:
        raise GitcfgError(f"{safe(unquote(text))} is not a parameter's name.", "Write `s PARAM VALUE`.")
    name = _declared(at, found[1])
    if name is None:
        return False
    if found[2] and _bind(at, name, found[2].strip()):
        return True
    return ask_value(at, name)


def ask_value(at: Conversation, name: str) -> bool:
    """Describe a parameter, and ask for its value until it is valid; return False if it stays as it is."""
    lines = tuple(_describe_param(at, name))
    at.talk.lines(lines)
    help = "\n".join((*map(str, lines), "  A value in YAML: text, a number, [a list], {a: map}."))
    question = Question(f"{safe(name)} (Enter: leave it) =", help, is_yaml=True)
    while text := ask(at, question):
        if _bind(at, name, text):
            return True
    at.talk.tell(f"{safe(name)} is left as it is.")
    return False


def unset_param(at: Conversation, text: str) -> bool:
    """Remove a binding; return False if nothing was done."""
    found = at.now.definition
    bound = found.params.keys() if found is not None else ()
    if not bound:
        raise GitcfgError("No parameter is set here.")
    name = find_name(at, "parameter set here", text, bound)
    return name is not None and drop_param(at, name)


def drop_param(at: Conversation, name: str) -> bool:
    """Remove the binding of a parameter."""
    order = replace(at.target.order(at.now.fleet.model), take={"params": (name,)})
    at.do(Step(f"unset {name}", (order,)))
    at.talk.tell(f"unset {safe(name)}", "green")
    return True


def _declared(at: Conversation, name: str) -> str | None:
    """Return the name of the parameter; None if the user leaves the question."""
    declarations = at.now.compiled.declarations
    if declarations.find(name) is not None:
        return name
    if at.now.fleet.model.settings.undeclared is not Undeclared.ERROR:
        at.talk.tell(f"{safe(name)} is not declared.", "yellow")
        if ask_yes_no(at, "Declare it?", default=False) and not create_parameter(at, name):
            return None
        return name
    known = {name for name, found in declarations.parameters.items() if not found.pattern}
    return find_name(at, "parameter", name, known, create_parameter)


def _bind(at: Conversation, name: str, text: str) -> bool:
    """Bind a parameter to a typed value; print why and return False if it is not valid."""
    try:
        given = Given(parse_value(text, name), text)
        order = replace(at.target.order(at.now.fleet.model), put={"params": {name: given}})
        if not at.do(Step(f"set {name}", (order,))):
            at.talk.tell(f"{safe(name)} has this value already.")
            return True
    except GitcfgError as error:
        at.talk.warn(error)
        return False
    wrong = tuple(_find_faults(at, name))
    for finding in wrong:
        at.talk.tell(safe(finding.message), "red")
    if wrong:
        at.back()
        return False
    at.talk.tell(f"set {safe(name)}", "green")
    return True


def _find_faults(at: Conversation, name: str) -> Iterator[Finding]:
    """Yield what is wrong with the value that was just bound."""
    found = at.now.definition
    if found is None or name not in found.params:
        return
    yield from check_binding(at.now.compiled, found, name)
    bound = found.params[name]
    if bound.op is Op.NULL or (bound.op is Op.SET and bound.given in ("", [], {})):
        yield from (each for each in at.now.findings if each.code == "GC305" and name in each.subjects)


def _describe_param(at: Conversation, name: str) -> Iterator[Text]:
    """Describe a parameter: its purpose, its possible values, and its present one, if all nodes agree."""
    declarations = at.now.compiled.declarations
    parameter = declarations.find(name)
    description = parameter.description.strip() if parameter is not None else ""
    yield Text(safe(name), "bold") + Text(f": {safe(' '.join(description.split()))}" if description else "")
    if parameter is None:
        return
    kind = f"{parameter.type}, " if parameter.type else ""
    if parameter.must_change:
        default = "no default: it must be given a value"
    elif parameter.default is None:
        default = "no default"
    else:
        default = f"default {as_text(parameter.default.given)}"
    yield Text(f"  {kind}{default}")
    if parameter.schema is not None:
        yield Text(f"  schema {as_text(parameter.schema)}")
    values = [one.some((name,)) for one in at.now.classes]
    if all(name in value and value == values[0] for value in values):
        yield Text(f"  now {as_text(values[0][name])}")
