"""Definitions by kind and name."""

from collections.abc import Mapping

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.definition import Definition, Kind
from gitcfg.explain.kinds.contents import FILE, TEMPLATE
from gitcfg.explain.kinds.feature import FEATURE
from gitcfg.explain.kinds.group import GROUP
from gitcfg.explain.kinds.hold import HOLD
from gitcfg.explain.kinds.nodes import NODE, NODESET
from gitcfg.explain.kinds.override import OVERRIDE
from gitcfg.explain.kinds.parameter import PARAMETER
from gitcfg.explain.kinds.rule import ALLOCATION, RULE
from gitcfg.explain.kinds.secret import SECRET
from gitcfg.explain.kinds.settings import SETTING
from gitcfg.explain.kinds.subsystem import SUBSYSTEM
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown
from gitcfg.render.templates import TemplateEngine

_ALL = (
    *(NODE, GROUP, FEATURE, PARAMETER, SUBSYSTEM, NODESET, OVERRIDE, HOLD, SECRET, RULE, ALLOCATION),
    *(TEMPLATE, FILE, SETTING),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}


def find_kind(word: str) -> Kind:
    """The kind that a word means: its name, the plural, or the beginning of just one.

    GitcfgError: there is none.
    """
    plain = word.lower().replace(" ", "").replace("-", "").replace("_", "")
    one = plain.removesuffix("s") or plain
    exact = KINDS.get(one)
    begun = [kind for name, kind in KINDS.items() if one and name.startswith(one)]
    if exact is None and len(begun) != 1:
        names = ", ".join([kind.name for kind in begun] or KINDS)
        wrong = f"{shown(word)} may be several kinds" if begun else f"There is no kind {shown(word)}"
        raise GitcfgError(f"{wrong}.", f"Say one of: {names}.")
    return exact or begun[0]


def define(fleet: Fleet, engine: TemplateEngine, kind: Kind, name: str) -> Definition:
    """All about one definition. GitcfgError: there is none of that name."""
    known = kind.names(fleet)
    if name not in known and not kind.also(fleet, name):
        near = did_you_mean(name, filter(str.isprintable, known))
        raise GitcfgError(f"There is no {kind.name} {shown(name)}.", near)
    return kind.definition(fleet, engine, name)
