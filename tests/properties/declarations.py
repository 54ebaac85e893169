"""Random declarations of the parameters of a small repository."""

from collections.abc import Iterator, Sequence

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.documents import document, mapping, sequence
from tests.properties.sources import values
from tests.properties.universe import EXACT, FAMILIES, GONE, KINDS


def declarations(draw: DrawFn, names: Sequence[str], wild: bool) -> str:
    """The file that declares all parameters; those that are in use in some detail."""
    said = {name: _declaration(draw, KINDS[name], wild) if name in names else _bare(name) for name in EXACT}
    for pattern, kind in FAMILIES.values():
        said[pattern] = mapping({"type": kind})
    return document({"parameters": mapping(said)})


def _bare(name: str) -> str:
    return mapping(_type(KINDS[name]))


def _type(kind: str) -> dict[str, str]:
    if kind == "macro":
        return {"type": "integer", "macros": "condor"}
    if kind == "secret":
        return {"secret": "true"}
    return {} if kind == "any" else {"type": kind}


def _declaration(draw: DrawFn, kind: str, wild: bool) -> str:
    return mapping(dict(_parts(draw, kind, wild)))


def _parts(draw: DrawFn, kind: str, wild: bool) -> Iterator[tuple[str, str]]:
    yield from _type(kind).items()
    if kind != "secret" and draw(st.booleans()):
        astray = wild and kind != "any" and draw(st.integers(0, 9)) == 9
        yield "default", draw(values("map" if astray else kind))
    if kind == "list":
        yield "unique", draw(st.sampled_from(("false", "true")))
        separator = draw(st.sampled_from((None, "comma", "blank-or-comma")))
        yield from [("separator", separator)] if separator else []
    if wild:
        yield "must_change", draw(st.sampled_from(("false", "true")))
        for key in ("depends", "conflicts"):
            others = st.lists(st.sampled_from((*EXACT, GONE)), max_size=1)
            yield key, sequence(draw(others))
