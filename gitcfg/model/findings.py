"""What is wrong with a configuration: collected, never thrown."""

from enum import StrEnum

import msgspec

from gitcfg.model.origin import Origin


class Severity(StrEnum):
    """An error makes a check fail; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


class Finding(msgspec.Struct, frozen=True, order=True):
    """One fact that should not be so.

    `subjects` are the names it is about, `origins` every place that took part, and `nodes` the
    nodes concerned, sorted (empty for what is wrong with a file or a definition). `veiled`: what stands at
    its places may be a secret in plain text, and is shown to nobody. `cause`: the code and the subjects of
    the finding from which this one follows, if it follows from one.
    """

    code: str
    subjects: tuple[str, ...]
    message: str
    origins: tuple[Origin, ...] = ()
    nodes: tuple[str, ...] = ()
    severity: Severity = Severity.ERROR
    hint: str = ""
    veiled: bool = False
    cause: tuple[str, ...] = ()

    @property
    def is_error(self) -> bool:
        """Does it make a check fail?"""
        return self.severity is Severity.ERROR

    @property
    def fact(self) -> tuple[str, ...]:
        """Its code and subjects, by which others name it as their cause."""
        return self.code, *self.subjects
