"""TOML 1.0: the only module that imports tomli_w."""

from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.render.formats.format import Separators, Unfit
from gitcfg.render.formats.nesting import nested, unfit_names, unfit_number, unfit_values

_INT64 = 1 << 63


class Toml:
    """Tables for dotted names, arrays of tables for lists of maps."""

    name = "toml"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        return "".join(_table((), _told(nested(values)), "")).removeprefix("\n")

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        yield from unfit_names(values)
        yield from unfit_values(values, _problem)


def _problem(value: Any) -> str | None:
    if value is None:
        return "holds a null, which TOML does not know"
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        return "holds an integer of more than 64 bits"
    return unfit_number(value)


def _told(value: Any) -> Any:
    """What TOML can say of a value: without the nulls in it."""
    if isinstance(value, dict):
        return {key: _told(item) for key, item in value.items() if item is not None}
    return [_told(item) for item in value if item is not None] if isinstance(value, list) else value


def _table(path: tuple[str, ...], table: Mapping[str, Any], header: str) -> Iterator[str]:
    """A table below its header: plain keys, then the tables in it.

    tomli_w alone writes short arrays of tables on one line, which Telegraf, for one, does not read.
    """
    import tomli_w

    plain = {key: value for key, value in table.items() if not isinstance(value, dict) and not _tables(value)}
    if header and (plain or len(plain) == len(table) or header.startswith("[[")):
        yield f"\n{header}\n"
    yield tomli_w.dumps(plain)
    for key, value in table.items():
        inner = (*path, tomli_w.dumps({key: 0}).removesuffix(" = 0\n"))
        name = ".".join(inner)
        if isinstance(value, dict):
            yield from _table(inner, value, f"[{name}]")
        elif _tables(value):
            for item in value:
                yield from _table(inner, item, f"[[{name}]]")


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
