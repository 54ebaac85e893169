"""A node's files with the true values of its secrets; used only to deliver them to that node."""

from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.node_class import finish_value
from gitcfg.compile.values import Misfit, is_macro_text
from gitcfg.model import FileEntry, GitcfgError, Op
from gitcfg.render.files import (
    find_secret_params,
    find_separators,
    make_context,
    render_content,
    select_params,
)
from gitcfg.render.formats import Format, formats
from gitcfg.render.templates import TemplateEngine, TemplateProblem


def reveal_contents(
    fleet: Fleet, node: FleetNode, engine: TemplateEngine, values: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the contents of a node's files that have secrets, by path; `values` are the secrets' by name.

    Nothing is cached. Raise GitcfgError if a value is missing, or does not fit its parameter or a file's
    format; no message contains a value.
    """
    true = {}
    for param, name in node.secrets.items():
        if name not in values:
            raise GitcfgError(f"The secret {name} for {param} is not known.")
        true[param] = _parse_value(fleet, param, name, values[name])
    texts = (
        (path, _reveal(fleet, node, entry, engine, true))
        for path, entry in node.entries.items()
        if find_secret_params(fleet, node, entry, engine)
    )
    return {path: text for path, text in texts if text is not None}


def find_misfits(fleet: Fleet, name: str, text: str) -> Iterator[GitcfgError]:
    """Yield why a text cannot be the value of parameters that are bound to a secret, in order of name.

    No message contains the text.
    """
    for param in sorted(_find_bound_params(fleet, name)):
        try:
            _parse_value(fleet, param, name, text)
        except GitcfgError as problem:
            yield problem


def _find_bound_params(fleet: Fleet, name: str) -> set[str]:
    """Return the parameters that are bound to a secret anywhere, even in layers that no node has."""
    found = [(param, binding.given) for param, binding in fleet.bindings.of(Op.SECRET)]
    if any("${" in param + str(given) for param, given in found):
        _ = fleet.classes  # creates the instances
        instances = (pair for feature in fleet.layers.instances for pair in feature.params.items())
        found += ((param, binding.given) for param, binding in instances if binding.op is Op.SECRET)
    return {param for param, given in found if given == name and "${" not in param}


def _parse_value(fleet: Fleet, param: str, name: str, text: str) -> Any:
    """Return the value of a parameter from a secret's text, as if the text were written in its place."""
    parameter = fleet.declarations.find(param)
    try:
        value = finish_value(fleet.declarations, param, fleet.declarations.value(param, text, text))
    except Misfit:
        kind = fleet.declarations.kind(param)
        raise _unfit(f"The secret {name} does not fit: {param} is of type {kind}.", name) from None
    if parameter is not None and not is_macro_text(parameter, value):
        own = fleet.declarations.own_schema(parameter)
        if own is not None and not own.refusal and own.problem(value):
            raise _unfit(f"The secret {name} does not fit the schema of {param}.", name)
    return value


def _reveal(
    fleet: Fleet, node: FleetNode, entry: FileEntry, engine: TemplateEngine, true: Mapping[str, Any]
) -> str | None:
    """Return a file's content, or None if it cannot be rendered even without secrets."""
    if entry.format is not None:
        chosen = formats().get(entry.format)
        return _written(fleet, node, entry, chosen, true) if chosen else None
    assert entry.template is not None  # no other content has secrets
    template = entry.template.name
    try:
        return engine.render(template, make_context(node, true))
    except TemplateProblem as problem:  # its message may quote a value
        place = f"{problem.name} fails at line {problem.line}"
    try:
        render_content(fleet, node, entry, engine)
    except TemplateProblem:  # it fails without the secrets too
        return None
    raise GitcfgError(f"The template {place} on {node.name} with the real secrets.")


def _written(fleet: Fleet, node: FleetNode, entry: FileEntry, chosen: Format, true: Mapping[str, Any]) -> str:
    """Return values in a format, without those that it cannot carry.

    Raise GitcfgError if one of these is a secret.
    """
    shown = select_params(fleet, entry, node.params)
    apart = find_separators(fleet, shown)
    out = {unfit.subjects[-1] for unfit in chosen.unfit(shown, apart)}
    values = {param: true.get(param, value) for param, value in shown.items() if param not in out}
    for unfit in chosen.unfit(values, apart):
        name = node.secrets[unfit.subjects[-1]]
        raise _unfit(f"The format {chosen.name} of {entry.path} cannot represent the secret {name}.", name)
    return chosen.write(values, apart)


def _unfit(message: str, name: str) -> GitcfgError:
    return GitcfgError(message, f"Set another value: `gitcfg secret set {name}`.")
