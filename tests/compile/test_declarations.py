"""Bindings as typed steps, and bindings gone through once."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.compile.declarations import Bindings, Declarations, weigh
from gitcfg.compile.values import to_typed
from gitcfg.load.yaml import resolve
from gitcfg.model import Binding, Op, Origin, Parameter

HERE = Origin("features/f.yaml")
KINDS = ("string", "expression", "path", "integer", "number", "boolean", "list", "map", None)
PLAIN = st.one_of(st.text(), st.integers(), st.booleans(), st.floats(), st.none())
WRITTEN = st.sampled_from(("017", "0x1F", "-5", "+7", "TRUE", "False", "1.5", "~", ".inf", "1e3", "0o17"))


def binding(value: Any, text: str | None = None, op: Op = Op.SET) -> Binding:
    return Binding(op, value, text, HERE, HERE)


@pytest.mark.parametrize("macros", [None, "condor"])
@pytest.mark.parametrize("kind", KINDS)
@given(value=st.one_of(PLAIN.map(binding), WRITTEN.map(lambda text: binding(resolve(text), text))))
def test_what_is_taken_as_written_is_what_its_type_makes_of_it(
    kind: str | None, macros: str | None, value: Binding
) -> None:
    parameter = Parameter("P", HERE, type=kind, macros=macros)
    declarations = Declarations({"P": parameter}, {})
    if type(value.given) in declarations.as_written("P"):
        step = declarations.step("P", value)
        typed = to_typed(parameter, kind, value.given, value.text)
        assert (type(step.given), step.given) == (type(typed), typed)
        assert step.weight == weigh(typed)


def test_nothing_is_taken_as_written_for_a_secret_parameter() -> None:
    declarations = Declarations({"P": Parameter("P", HERE, type="string", secret=True)}, {})
    assert not declarations.as_written("P")


def test_bindings_are_told_apart_by_operation_and_marks() -> None:
    def all_of() -> Iterator[tuple[str, Binding]]:
        yield "A", binding("x")
        yield "A", binding("x", op=Op.AND)
        yield "B", binding("${as}")
        yield "B${as}", binding("x", op=Op.OR)
        yield "C", binding({"k": ["${with.n}"]}, op=Op.MERGE)
        yield "C", binding(1)

    found = Bindings(all_of())
    assert found.written == tuple(all_of())
    assert found.names == {"A", "B", "B${as}", "C"}
    assert [name for name, _ in found.named] == ["A", "A", "C"]
    assert [name for name, _ in found.of(Op.OR, Op.AND)] == ["B${as}", "A"]
    assert not any(found.of(Op.REMOVE))
