"""The settings and kept lines that a host's statements have given so far, and the values by now."""

from collections.abc import Set

from gitcfg.compile.classad import macros
from gitcfg.convert.condor.annotations import Annotations
from gitcfg.convert.condor.host import KeptLines, Setting
from gitcfg.convert.condor.selves import apply_value, find_own_macros
from gitcfg.convert.condor.statements import Statement, StatementKind

_WORDS = frozenset(StatementKind) - {
    StatementKind.SETTING,
    StatementKind.LONG,
    StatementKind.COMPUTED,
    StatementKind.NOTE,
}
"""Names that gitcfg would not write, since HTCondor has them for words of its language."""


class ReadState:
    """`values` are the settings as HTCondor would have them; of the `unsure` ones, and if `blind` of all,
    kept lines may have made something else. What is `tangled` has to stay text; what is `touched` was set,
    or may have been, by something that does not stand before all settings."""

    def __init__(self) -> None:
        self.items: list[Setting | KeptLines] = []
        self.touched: set[str] = set()
        self.values: dict[str, str] = {}
        self.unsure: set[str] = set()
        self.blind = False
        self.tangled: set[str] = set()

    def set(self, statement: Statement, annotations: Annotations) -> None:
        """Take a setting, and whether annotations make it the default."""
        name, value, line = statement.name, statement.rest, statement.line
        key = name.lower()
        self.items.append(
            Setting(name, value, annotations.feature, annotations.default, line, statement.about)
        )
        self.touched.add(key)
        annotations.default = False
        own = (macro for macro in macros(value) if macro.at_once and macro.body.lower() == key)
        if key in _WORDS or "\r" in value or any(macro.function != "$" for macro in own):
            self.tangled.add(key)
        if not find_own_macros(name, value):
            self.unsure.discard(key)
        self.values[key] = apply_value(name, value, self.values.get(key), line)

    def keep(self, found: list[Statement], names: Set[str] | None) -> None:
        """Keep lines as they are."""
        raw = "".join(one.line.raw if one.kind is StatementKind.LONG else one.line.tidy for one in found)
        self.items.append(KeptLines(raw, None if names is None else frozenset(names), found[0].line))
        if not self.may_stand_first(names):
            self.touched |= names or set()
        self.unsure |= names or set()
        self.blind = self.blind or names is None

    def may_stand_first(self, names: Set[str] | None) -> bool:
        """Can lines that touch these names (None: any) stand before all settings?"""
        return not self.touched if names is None else self.touched.isdisjoint(names)

    def fork(self) -> "ReadState":
        """What goes on from here, apart from this; it has no items yet."""
        result = ReadState()
        result.values, result.unsure, result.blind = dict(self.values), set(self.unsure), self.blind
        result.tangled, result.touched = set(self.tangled), set(self.touched)
        return result

    def accept(self, trial: "ReadState") -> None:
        """Go on as a trial did that kept nothing."""
        self.items += trial.items
        self.values, self.unsure, self.touched = trial.values, trial.unsure, trial.touched
