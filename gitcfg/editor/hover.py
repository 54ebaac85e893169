"""What an editor shows of a parameter when somebody points at it, as Markdown."""

from collections.abc import Iterator, Mapping

import msgspec

from gitcfg.model import Parameter
from gitcfg.model.markdown import code, plain
from gitcfg.model.rules import Domain

_LEVELS = ("", "for experts", "for developers")
_LONGEST = 400  # characters of a default or a schema


Confined = Mapping[str, Domain]
"""By rule, the values that a parameter may have."""
_NO_RULES: Confined = {}


def hover_text(parameter: Parameter, confined: Confined = _NO_RULES) -> str:
    """Its description, then what is declared of it and what rules say, a line each."""
    lines = [_text(parameter.description)] if parameter.description else []
    facts = "\n".join(f"- {fact}" for fact in (*_facts(parameter), *_rules(parameter, confined)))
    return "\n\n".join([*lines, facts])


def _rules(parameter: Parameter, confined: Confined) -> Iterator[str]:
    """Of a secret parameter the values are nobody's to see."""
    for rule, domain in confined.items():
        values = "" if parameter.secret else f": {code(_json(domain.items))}"
        of = f" of {code(domain.name)}" if domain.name != parameter.name else ""
        yield f"values{of} by the rule {code(rule)}{values}"


def _text(text: str) -> str:
    """A text that shows as it is; its lines stay lines."""
    return "\n".join(map(plain, text.strip().split("\n")))


def _facts(parameter: Parameter) -> Iterator[str]:
    if parameter.pattern:
        yield f"declared by the family {code(parameter.name)}"
    yield f"type: {parameter.type}" if parameter.type else "any type"
    if parameter.secret:
        yield "**secret**: only `{$secret: NAME}` may be bound to it"
    elif parameter.default is not None:
        yield f"default: {code(_json(parameter.default.given))}"
    if parameter.must_change:
        yield "**must be changed**: whoever binds it says a value"
    if parameter.schema is not None:
        yield f"schema: {code(_json(parameter.schema))}"
    if parameter.restart:
        yield "a change needs a restart"
    for word, names in (("needs", parameter.depends), ("conflicts with", parameter.conflicts)):
        if names:
            yield f"{word} " + ", ".join(code(name.name) for name in names)
    if parameter.level:
        yield _LEVELS[parameter.level]


def _json(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
