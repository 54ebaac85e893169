"""Whether git may keep files of a work tree in another form than the one on disk."""

import os
import re
from enum import IntEnum
from pathlib import Path

import pygit2
from pygit2.enums import ConfigLevel

_NAME = ".gitattributes"
_LINE_ENDS = "core.autocrlf"
_SETTING = "core.attributesFile"


class Form(IntEnum):
    """What git keeps of a file, each with what may be the case too."""

    SAME = 0
    """The very bytes on disk."""
    ENDS = 1
    """Other line ends, or without an identifier: then the number of bytes is another, too."""
    ANY = 2
    """What a program or another encoding makes of it, perhaps in just as many bytes."""


class Conversions:
    """What attributes and settings say about it; each file of attributes is read once."""

    def __init__(self, git: pygit2.Repository, top: str, shared: Path) -> None:
        self._git = git
        self._top = top
        self._shared = shared
        self._known: dict[str, Form] = {}

    def form(self, folder: str) -> Form:
        """What git keeps of the files of a folder."""
        if folder not in self._known:
            self._known[folder] = self._form(folder)
        return self._known[folder]

    def _form(self, folder: str) -> Form:
        own = _said(os.path.join(folder, _NAME))
        above = self.form(os.path.dirname(folder)) if len(folder) > len(self._top) else self._everywhere()
        return max(own, above)

    def _everywhere(self) -> Form:
        """What is said outside the work tree."""
        config, searched = self._git.config, pygit2.settings.search_path
        files = [f"{place}/attributes" for place in searched[ConfigLevel.XDG].split(os.pathsep)]
        if _SETTING in config:
            home = searched[ConfigLevel.GLOBAL].partition(os.pathsep)[0]
            files = [re.sub("^~(?=/)", lambda _: home, config[_SETTING] or "")]
        files += [f"{place}/gitattributes" for place in searched[ConfigLevel.SYSTEM].split(os.pathsep)]
        files.append(str(self._shared / "info" / "attributes"))
        return max(Form.ENDS if _LINE_ENDS in config else Form.SAME, *map(_said, files))


def _said(file: str) -> Form:
    """What a file of attributes says, if there is one. One that cannot be read may say anything."""
    try:
        with open(file, "rb") as opened:
            words = opened.read()
    except (FileNotFoundError, NotADirectoryError):
        return Form.SAME
    except OSError:
        return Form.ANY
    if b"filter" in words or b"working-tree-encoding" in words:
        return Form.ANY
    return Form.ENDS if words.strip() else Form.SAME
