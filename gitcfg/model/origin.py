"""Where a thing was written: file, line and column, and names that remember it."""

import msgspec


class Origin(msgspec.Struct, frozen=True, order=True, gc=False):
    """A place in a repository's file; line and column count from 1, in characters."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Ref(msgspec.Struct, frozen=True, order=True, gc=False):
    """A name, and where it was written."""

    name: str
    origin: Origin
