"""The declaration of each parameter, and bindings as typed steps."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gitcfg.compile.classad import find_unbalanced
from gitcfg.compile.instances import has_marks
from gitcfg.compile.operations import LACKING, NOTHING, Step, parse_collect
from gitcfg.compile.values import Misfit, as_list, describe_type, to_typed
from gitcfg.load.schema import OwnSchema
from gitcfg.model import Binding, Op, Parameter, Secret
from gitcfg.model.names import glob, literals
from gitcfg.model.secrets import PLAIN, secret_value

_KIND_OF = {
    Op.APPEND: "list",
    Op.PREPEND: "list",
    Op.REMOVE: "list",
    Op.AND: "expression",
    Op.OR: "expression",
    Op.MERGE: "map",
}
COMPOSING = frozenset(_KIND_OF)
"""The operations that compose with the value below; each implies a type."""
_NAMING = frozenset({Op.FACT, Op.SECRET})
_OF_SECRETS = frozenset({Op.SECRET, Op.UNSET})
_NO_SECRETS: Mapping[str, Secret] = {}
# For each type of parameter, the Python types of values that need no conversion.
_NONE = frozenset[type]()
_AS_WRITTEN: Mapping[str | None, frozenset[type]] = {
    None: frozenset({str, int, bool}),
    "string": frozenset({str}),
    "expression": frozenset({str}),
    "path": frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({int}),
    "boolean": frozenset({bool}),
}
_MARK = re.compile(r"\$\{[^{}]*\}")


class Declarations:
    """The parameters of a repository, found by exact name, then by the most specific pattern.

    `implied` are the types that operations imply for names without a declared type. `secrets` are those that
    bindings may name.
    """

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        implied: Mapping[str, str],
        secrets: Mapping[str, Secret] = _NO_SECRETS,
    ) -> None:
        self.parameters = parameters
        self.implied = implied
        self.secrets = secrets
        self.families = sorted(
            (parameter for parameter in parameters.values() if parameter.pattern),
            key=lambda parameter: (literals(parameter.name), parameter.name),
            reverse=True,
        )
        self._marked = [(_unmarked(name), kind) for name, kind in implied.items() if "${" in name]
        self._found: dict[str, Parameter | None] = {}
        self._defaults: dict[str, Any] = {}
        self._schemas: dict[str, OwnSchema] = {}
        self._as_written: dict[str, frozenset[type]] = {}

    def find(self, name: str) -> Parameter | None:
        """Return the declaration of a name, or None."""
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name: str) -> Parameter | None:
        exact = self.parameters.get(name)
        if exact is not None:
            return exact
        return next((family for family in self.families if glob(family.name).matches(name)), None)

    def declared_kind(self, name: str) -> str | None:
        """Return the declared type of a parameter, if it has one."""
        parameter = self.find(name)
        return parameter.type if parameter else None

    def typed(self, name: str) -> bool:
        """Return whether a name, and all names that instances may make of it, have a declared type."""
        if "${" not in name:
            return self.declared_kind(name) is not None
        made = _unmarked(name)
        near = (one for one in self.parameters.values() if one.pattern or made.fullmatch(one.name))
        return self.declared_kind(_MARK.sub("1", name)) is not None and all(one.type for one in near)

    def kind(self, name: str) -> str | None:
        """Return the type of a parameter: the declared one, else the one that its operations imply."""
        return self.declared_kind(name) or self.implied.get(name) or self._of_instance(name)

    def _of_instance(self, name: str) -> str | None:
        """Return the implied type of a name whose marks an instance has replaced."""
        return next((kind for pattern, kind in self._marked if pattern.fullmatch(name)), None)

    def default(self, parameter: Parameter) -> Any:
        """Return the typed default; NOTHING if there is none, or it must not be used."""
        if parameter.name not in self._defaults:
            self._defaults[parameter.name] = self._default(parameter)
        return self._defaults[parameter.name]

    def _default(self, parameter: Parameter) -> Any:
        if parameter.default is None or parameter.must_change or parameter.secret:
            return NOTHING
        try:
            return self.value_of(parameter, parameter.default)
        except Misfit:
            return NOTHING

    def own_schema(self, parameter: Parameter) -> OwnSchema | None:
        """Return the schema for a parameter's final values, or None."""
        if parameter.schema is None:
            return None
        if parameter.name not in self._schemas:
            self._schemas[parameter.name] = OwnSchema(parameter.schema)
        return self._schemas[parameter.name]

    def has_default(self, name: str) -> bool:
        """Return whether binding this parameter to null gives it a value."""
        parameter = self.find(name)
        return parameter is not None and self.default(parameter) is not NOTHING

    def value_of(self, parameter: Parameter, default: Binding) -> Any:
        """Return a declared default as a value. Raise Misfit if it does not fit its type."""
        return to_typed(parameter, parameter.type, default.given, default.text)

    def value(self, name: str, given: Any, text: str | None = None) -> Any:
        """Return a value of the parameter's type. Raise Misfit if it does not fit."""
        return to_typed(self.find(name), self.kind(name), given, text)

    def secret(self, name: str) -> bool:
        """Return whether only secrets may be bound to a parameter."""
        parameter = self.find(name)
        return parameter is not None and parameter.secret

    def seen(self, name: str, given: Any) -> Any:
        """Return what may be shown of a value as written: of a secret parameter nothing."""
        return PLAIN if self.secret(name) else given

    def as_written(self, name: str) -> frozenset[type]:
        """Return the Python types of plain values that this parameter takes without conversion."""
        known = self._as_written.get(name)
        if known is None:
            known = _NONE if self.secret(name) else _AS_WRITTEN.get(self.kind(name), _NONE)
            self._as_written[name] = known
        return known

    def step(self, name: str, binding: Binding) -> Step:
        """Return a binding as a typed step.

        Raise Misfit if the operation or its operand does not fit the type.
        """
        given = binding.given
        if binding.op is Op.SET and type(given) in self.as_written(name):  # nearly all
            return Step(Op.SET, given, binding.origin, weigh(given), binding.decided)
        given = LACKING if binding.given is LACKING else self._operand(name, binding)
        return Step(binding.op, given, binding.origin, weigh(given), binding.decided)

    def _operand(self, name: str, binding: Binding) -> Any:
        op, given, text = binding.op, binding.given, binding.text
        parameter, kind = self.find(name), self.kind(name)
        if op is Op.NULL:
            return NOTHING if parameter is None else self.default(parameter)
        if op not in _OF_SECRETS and self.secret(name):
            raise Misfit("is secret: only {$secret: NAME} can be bound to it")
        if op is Op.UNSET:
            return given
        if op in _NAMING:
            return self._named(op, given)
        if op is Op.COLLECT:
            return parse_collect(given)
        wanted = _KIND_OF.get(op)
        if wanted not in (None, kind):
            raise Misfit(f"is {_a(kind)}: `${op}` composes {wanted}s")
        if wanted == "list":
            return as_list(parameter, [given] if isinstance(given, dict) else given)
        value = to_typed(parameter, kind, given, text)
        reason = find_unbalanced(value) if wanted == "expression" else None
        if reason:
            raise Misfit(f"cannot be composed with this: {reason}")
        return value

    def _named(self, op: Op, given: Any) -> Any:
        """Return the name of a fact, or the value of the secret with this name.

        Raise Misfit if it is not text, which an instance can cause.
        """
        if not isinstance(given, str):
            raise Misfit(f"needs the name of a {op.value}, not {describe_type(given)}")
        if op is Op.FACT:
            return given
        secret = self.secrets.get(given)
        return secret_value(given, secret.version if secret is not None else None)


def _unmarked(name: str) -> re.Pattern[str]:
    """Return a pattern for the names that instances can make of a name with marks."""
    return re.compile(".+".join(map(re.escape, _MARK.split(name))))


def _a(kind: str | None) -> str:
    if kind is None:
        return "a plain value"
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


class Bindings:
    """Every binding of a model with its parameter's name; read only once, since there may be millions.

    `written` are all of them; `named` those without an instance's marks, as nodes may get them; `names` the
    parameters that are bound.
    """

    def __init__(self, written: Iterable[tuple[str, Binding]]) -> None:
        self.written = tuple(written)
        self.named: list[tuple[str, Binding]] = []
        self._by_op: dict[Op, list[tuple[str, Binding]]] = {}
        for pair in self.written:
            name, binding = pair
            if binding.op is not Op.SET:
                self._by_op.setdefault(binding.op, []).append(pair)
            given = binding.given
            if "${" not in name and not ("${" in given if type(given) is str else has_marks(given)):
                self.named.append(pair)
        self.names = frozenset([name for name, _ in self.written])

    def of(self, *ops: Op) -> Iterator[tuple[str, Binding]]:
        """Yield the bindings with these operations. Plain values are not available here."""
        for op in ops:
            yield from self._by_op.get(op, ())


def implied_kinds(bindings: Iterable[tuple[str, Binding]]) -> dict[str, str]:
    """Return the type that each name's operations imply; of several the first in alphabetical order."""
    seen: dict[str, set[str]] = {}
    for name, binding in bindings:
        kind = _KIND_OF.get(binding.op)
        if kind:
            seen.setdefault(name, set()).add(kind)
    return {name: min(kinds) for name, kinds in seen.items()}


def weigh(value: Any) -> int:
    """Return how much a value adds to a composed value: its characters and items, roughly."""
    if isinstance(value, str):
        return len(value) + 1
    if isinstance(value, list):
        return 1 + sum(map(weigh, value))
    if isinstance(value, dict):
        return 1 + sum(len(key) + weigh(item) for key, item in value.items())
    return 1
