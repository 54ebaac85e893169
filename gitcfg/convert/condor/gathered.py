"""What a host's statements have said so far: settings and kept lines, and what the values are by now."""

from collections.abc import Set

from gitcfg.compile.classad import macros
from gitcfg.convert.condor.annotations import Annotations
from gitcfg.convert.condor.host import Kept, Setting
from gitcfg.convert.condor.selves import after, itself
from gitcfg.convert.condor.statements import Kind, Statement

_WORDS = frozenset(Kind) - {Kind.SETTING, Kind.LONG, Kind.COMPUTED, Kind.NOTE}
"""Names that gitcfg would not write, since HTCondor has them for words of its language."""


class Gathered:
    """`values` are the settings as HTCondor would have them; of the `unsure` ones, and if `blind` of all,
    kept lines may have made something else. What is `tangled` has to stay text; what is `touched` was set,
    or may have been, by something that does not stand before all settings."""

    def __init__(self) -> None:
        self.items: list[Setting | Kept] = []
        self.touched: set[str] = set()
        self.values: dict[str, str] = {}
        self.unsure: set[str] = set()
        self.blind = False
        self.tangled: set[str] = set()

    def set(self, statement: Statement, said: Annotations) -> None:
        """Take a setting, and the default that it is said to be."""
        name, value, line = statement.name, statement.rest, statement.line
        key = name.lower()
        self.items.append(Setting(name, value, said.feature, said.default, line, statement.about))
        self.touched.add(key)
        said.default = False
        own = (macro for macro in macros(value) if macro.at_once and macro.body.lower() == key)
        if key in _WORDS or "\r" in value or any(macro.function != "$" for macro in own):
            self.tangled.add(key)
        if not itself(name, value):
            self.unsure.discard(key)
        self.values[key] = after(name, value, self.values.get(key), line)

    def keep(self, found: list[Statement], names: Set[str] | None) -> None:
        """Keep lines as they are."""
        raw = "".join(one.line.raw if one.kind is Kind.LONG else one.line.tidy for one in found)
        self.items.append(Kept(raw, None if names is None else frozenset(names), found[0].line))
        if not self.may_stand_first(names):
            self.touched |= names or set()
        self.unsure |= names or set()
        self.blind = self.blind or names is None

    def may_stand_first(self, names: Set[str] | None) -> bool:
        """Can lines that touch these names (None: any) stand before all settings?"""
        return not self.touched if names is None else self.touched.isdisjoint(names)

    def trial(self) -> "Gathered":
        """What goes on from here, apart from this; it has no items yet."""
        result = Gathered()
        result.values, result.unsure, result.blind = dict(self.values), set(self.unsure), self.blind
        result.tangled, result.touched = set(self.tangled), set(self.touched)
        return result

    def accept(self, trial: "Gathered") -> None:
        """Go on as a trial did that kept nothing."""
        self.items += trial.items
        self.values, self.unsure, self.touched = trial.values, trial.unsure, trial.touched
