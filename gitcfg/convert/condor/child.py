"""The guarded child that calls HTCondor's library: defaults, knobs, and its parser."""

import ctypes
from collections.abc import Iterator, Mapping
from ctypes import byref, c_bool, c_char_p, c_int, c_void_p
from importlib import metadata
from typing import Any

from gitcfg.parsers.child.htcondor import bindings, htcondor, symbol
from gitcfg.sandbox import serve

_KINDS = ("string", "integer", "boolean", "number", "integer")
Row = tuple[str, str | None, str, str]


def answer(request: Mapping[str, Any]) -> Any:
    """Answer a request for the `defaults`, a `knob`, or the raw values of texts to `read`."""
    if "read" in request:
        read = htcondor()
        assert read is not None
        return read("".join(request["read"]))
    if htcondor() is None:
        return None if "knob" in request else ("", [])
    library = bindings()
    if "knob" in request:
        return _knob(library, *request["knob"])
    return metadata.version("htcondor"), list(_defaults(library))


def _knob(library: ctypes.CDLL, category: str, name: str) -> str | None:
    find = symbol(library, "_Z16param_meta_valuePKcS0_Pi", c_char_p, c_char_p, c_char_p, c_void_p)
    found: bytes | None = find(category.encode(), name.encode(), None)
    return None if found is None else found.decode()


def _defaults(library: ctypes.CDLL) -> Iterator[Row]:
    """Yield HTCondor's table of parameters: nothing is expanded, so nothing depends on this machine."""
    name = symbol(library, "_Z24param_default_name_by_idi", c_char_p, c_int)
    value = symbol(library, "_Z26param_default_rawval_by_idi", c_char_p, c_int)
    kind = symbol(library, "_Z24param_default_type_by_idi", c_int, c_int)
    path = symbol(library, "_Z26param_default_ispath_by_idi", c_bool, c_int)
    words = symbol(
        library, "_Z24param_default_help_by_idiRPKcS1_S1_", c_int, c_int, c_void_p, c_void_p, c_void_p
    )
    number = 0
    while found := name(number):
        short, used, long = c_char_p(), c_char_p(), c_char_p()
        words(number, byref(short), byref(used), byref(long))
        type_ = "path" if path(number) else _KINDS[kind(number)] if kind(number) < len(_KINDS) else "string"
        raw = value(number)
        yield (
            found.decode(),
            None if raw is None else raw.decode(errors="replace"),
            type_,
            (short.value or long.value or b"").decode(errors="replace"),
        )
        number += 1


if __name__ == "__main__":
    serve(answer)
