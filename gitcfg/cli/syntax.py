"""The grammar that completion reads, made from the commands as data: what may be written in each place."""

import re
from collections.abc import Mapping

from gitcfg.cli.app import first_sentence
from gitcfg.cli.complete import grammar
from gitcfg.cli.reference import Command, Parameter
from gitcfg.explain.show import KINDS
from gitcfg.model import names

KINDS_OF: Mapping[str, tuple[str, ...]] = {
    "NODE": ("node",),
    "NODES": ("node", "members"),
    "GROUP": ("group",),
    "FEATURE": ("feature",),
    "PARAM": ("parameter",),
    "PARAMS": ("parameter",),
    "PATH": ("path",),
    "REV": ("revision",),
    "REF": ("revision",),
    "NAME": ("named",),
    "FILE": ("file",),
    "DIR": ("folder",),
    "CODE": ("code",),
    "KIND": (),
    "N": (),
    "CEL": (),
    "COMMAND": (),
    "TEXT": (),
    "TEXTS": (),
    "NEW": (),
    "WHO": (),
    "WHAT": ("file",),
    "ENTITY": ("entity",),
    "SNAPSHOT": ("snapshot",),
    "HOLD": ("hold",),
    "OVERRIDE": ("override",),
    "KEY": (),
    "FINGERPRINT": (),
    "DAYS": (),
    "SECRET": ("secret",),
    "COLUMN": (),
    "HOST": (),
    "PORT": (),
    "ADDRESS": (),
    "URL": (),
    "RUN": ("run",),
    "TIME": (),
    "YYYY-MM-DD": (),
}
"""By the words of a metavar: names of which kinds may stand there; nothing where only people know."""
_WORD = re.compile(r"YYYY-MM-DD|[A-Z]+")
_NAMED = (
    *("group", "feature", "override", "hold", "secret"),
    *("nodeset", "subsystem", "rule", "allocation"),
)
_PATTERNS = {
    "node": names.HOST.pattern,
    "parameter": names.PARAMETER.pattern,
    "members": "@" + names.NAME.pattern,
    **dict.fromkeys(_NAMED, names.NAME.pattern),
}


def grammar_of(program: Command) -> grammar.Grammar:
    """The grammar of a program, and the patterns of legal names."""
    return grammar.Grammar(_command(program), _PATTERNS)


def _command(command: Command) -> grammar.Command:
    return grammar.Command(
        first_sentence(command.purpose),
        tuple(
            grammar.Option(
                option.names,
                first_sentence(option.help),
                _value(option) if option.metavar else None,
                option.many,
            )
            for option in command.options
        ),
        tuple(grammar.Argument(_value(argument), argument.many) for argument in command.arguments),
        {inner.words[-1]: _command(inner) for inner in command.commands},
    )


def _value(parameter: Parameter) -> grammar.Value:
    if parameter.choices:
        return grammar.Value(parameter.choices)
    words = _words(parameter)
    choices = tuple(KINDS) if "KIND" in words else ()
    return grammar.Value(choices, tuple(dict.fromkeys(kind for word in words for kind in KINDS_OF[word])))


def _words(parameter: Parameter) -> list[str]:
    """A metavar's words. An option's NAME is of the kind that the option is called after (`--group NAME`)."""
    if parameter.metavar == "NAME" and parameter.names:
        return [parameter.names[-1].removeprefix("--").upper()]
    return _WORD.findall(parameter.metavar)
