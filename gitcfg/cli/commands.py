"""The commands in their groups, their exit codes, and hints for unknown commands."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitcfg.cli.completion import grammar

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Start and inspect": {
        "init": "gitcfg.cli.init",
        "check": "gitcfg.cli.check",
        "diff": "gitcfg.cli.diff",
        "explain": "gitcfg.cli.explain",
        "render": "gitcfg.cli.render",
        "show": "gitcfg.cli.show",
        "values": "gitcfg.cli.values",
        "search": "gitcfg.cli.search",
        "log": "gitcfg.cli.log",
        "graph": "gitcfg.cli.graph",
        "help": "gitcfg.cli.help",
    },
    "Change": {
        "new": "gitcfg.cli.edit",
        "modify": "gitcfg.cli.edit",
        "rename": "gitcfg.cli.edit",
        "delete": "gitcfg.cli.edit",
        "configure": "gitcfg.cli.configure.command",
        "undo": "gitcfg.cli.undo",
        "snapshot": "gitcfg.cli.snapshot",
    },
    "Rules and permissions": {
        "rules": "gitcfg.cli.rules",
        "solve": "gitcfg.cli.solve",
        "may": "gitcfg.cli.may",
    },
    "Nodes": {
        "node": "gitcfg.cli.node",
        "inventory": "gitcfg.cli.inventory",
        "hold": "gitcfg.cli.terms",
        "override": "gitcfg.cli.terms",
        "secret": "gitcfg.cli.secret",
    },
    "Deliver": {
        "deploy": "gitcfg.cli.deploy.command",
        "deploys": "gitcfg.cli.deploys",
        "release": "gitcfg.cli.release",
        "wait": "gitcfg.cli.wait",
        "serve": "gitcfg.cli.serve",
        "agent": "gitcfg.cli.agent",
    },
    "Set up and exchange": {
        "hook": "gitcfg.cli.hook",
        "completion": "gitcfg.cli.completion.command",
        "schema": "gitcfg.cli.schema",
        "import": "gitcfg.cli.import_",
        "export": "gitcfg.cli.export",
        "sanitize": "gitcfg.cli.sanitize",
    },
}
"""By the heading of a group, the modules of its commands."""

COMMANDS: Mapping[str, str] = {
    name: module for modules in GROUPS.values() for name, module in modules.items()
}

# Exit codes, which all commands share.

SOME_FAILED = 3
TIME_RAN_OUT = 5
FAULT = 70
HUNG_UP = 129
INTERRUPTED = 130
CLOSED_PIPE = 141
TERMINATED = 143

EXITS: Mapping[int, str] = {
    0: "Success: nothing is wrong, nothing differs.",
    1: "The answer is no: there are errors, nodes change (with `--exit-code`), or nothing was found.",
    2: "Wrong usage: an argument is invalid, does not exist, or cannot be read.",
    SOME_FAILED: "Some nodes failed or were left unchanged: an installation failed, or a release is halted.",
    4: "Refused: something is in the way, and gitcfg left it unchanged.",
    TIME_RAN_OUT: "The time limit was reached.",
    FAULT: "Internal error in gitcfg. A report is written.",
    HUNG_UP: "The terminal was closed (SIGHUP).",
    INTERRUPTED: "Interrupted with Ctrl-C (SIGINT).",
    CLOSED_PIPE: "The reader of the output, such as a pager, closed it.",
    TERMINATED: "Terminated (SIGTERM).",
}

# Hints for words of other tools, and for misspelled words.

_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("lint", "validate", "verify", "test", "doctor", "fsck"), ("check",)),
    **dict.fromkeys(("plan", "preview", "compare", "changes", "dry-run", "whatif"), ("diff",)),
    "status": ("inventory", "check"),
    **dict.fromkeys(("ls", "list", "get", "cat", "view", "inspect"), ("show",)),
    "describe": ("show", "explain"),
    **dict.fromkeys(("facts", "pillar", "hostvars", "info"), ("show", "render --params")),
    **dict.fromkeys(("why", "trace", "lookup", "origin", "provenance"), ("explain",)),
    **dict.fromkeys(("blame", "annotate"), ("explain --blame",)),
    **dict.fromkeys(("template", "build", "compile", "generate", "manifest"), ("render",)),
    **dict.fromkeys(("grep", "find", "query"), ("search",)),
    **dict.fromkeys(("history", "changelog"), ("log",)),
    **dict.fromkeys(("draw", "dot", "tree"), ("graph",)),
    **dict.fromkeys(("add", "create"), ("new", "modify")),
    **dict.fromkeys(("edit", "set", "change", "update", "patch"), ("modify", "configure")),
    "unset": ("modify",),
    **dict.fromkeys(("rm", "remove", "del", "destroy", "purge"), ("delete",)),
    **dict.fromkeys(("mv", "move"), ("rename",)),
    **dict.fromkeys(("revert", "rollback", "reset"), ("undo", "snapshot restore")),
    **dict.fromkeys(("tag", "backup", "save"), ("snapshot create",)),
    **dict.fromkeys(("policy", "policies", "constraints"), ("rules",)),
    **dict.fromkeys(("allocate", "schedule", "assign", "place"), ("solve",)),
    **dict.fromkeys(("can", "can-i", "auth", "permissions"), ("may",)),
    **dict.fromkeys(("cert", "sign", "approve", "enroll", "join"), ("node accept",)),
    **dict.fromkeys(("nodes", "hosts", "machines", "report"), ("inventory", "show")),
    "drift": ("inventory", "agent"),
    **dict.fromkeys(("freeze", "pin", "lock", "pause", "cordon"), ("hold add",)),
    **dict.fromkeys(("unfreeze", "unpin", "unlock", "uncordon"), ("hold lift",)),
    **dict.fromkeys(("exception", "exempt"), ("override add",)),
    **dict.fromkeys(("vault", "encrypt", "secrets", "password"), ("secret set",)),
    "decrypt": ("secret show",),
    **dict.fromkeys(("apply", "push", "sync", "converge", "run", "upgrade"), ("deploy",)),
    **dict.fromkeys(("jobs", "runs"), ("deploys",)),
    **dict.fromkeys(("rollout", "promote", "publish"), ("release status", "deploy")),
    **dict.fromkeys(("server", "daemon", "api", "web"), ("serve",)),
    **dict.fromkeys(("login", "tokens"), ("serve token create",)),
    "install": ("deploy", "hook install"),
    **dict.fromkeys(("docs", "document"), ("export docs",)),
    **dict.fromkeys(("convert", "migrate"), ("import",)),
    **dict.fromkeys(("anonymize", "redact", "scrub"), ("sanitize",)),
    "version": ("--version",),
    **dict.fromkeys(("snapshot add", "snapshot new", "snapshot save"), ("snapshot create",)),
    **dict.fromkeys(("snapshot rm", "snapshot remove"), ("snapshot delete",)),
    **dict.fromkeys(("node add", "node approve", "node sign", "node enroll"), ("node accept",)),
    **dict.fromkeys(("node rm", "node remove", "node delete", "node revoke"), ("node forget",)),
    **dict.fromkeys(("hold create", "hold new"), ("hold add",)),
    **dict.fromkeys(("hold rm", "hold remove", "hold delete", "hold release"), ("hold lift",)),
    **dict.fromkeys(("override create", "override new", "override set"), ("override add",)),
    **dict.fromkeys(("override rm", "override remove", "override delete"), ("override lift",)),
    **dict.fromkeys(("secret add", "secret create", "secret new", "secret edit"), ("secret set",)),
    **dict.fromkeys(("secret get", "secret view", "secret decrypt"), ("secret show",)),
    **dict.fromkeys(("secret rm", "secret remove", "secret delete"), ("delete",)),
    **dict.fromkeys(("release rollback", "release undo", "release revert"), ("release abort",)),
    **dict.fromkeys(("release pause", "release hold"), ("hold add",)),
    **dict.fromkeys(("release list", "release show"), ("release status",)),
    "release continue": ("release resume",),
    **dict.fromkeys(("serve token add", "serve token new"), ("serve token create",)),
    **dict.fromkeys(("serve token rm", "serve token remove", "serve token delete"), ("serve token revoke",)),
    "hook add": ("hook install",),
    **dict.fromkeys(("hook uninstall", "hook delete"), ("hook remove",)),
}
"""By a word, after the words of its group, the command lines to use instead."""


def find_hints(words: Sequence[str]) -> list[str]:
    """Return hints for words of which the last is not a command of the group that the others name."""
    from difflib import get_close_matches

    from gitcfg.cli.completion import grammar

    program = grammar.read().program
    *above, word = words
    group = program
    for name in above:
        group = group.commands[name]
    word = word.lower()
    found = _SYNONYMS.get(" ".join((*above, word)))
    if found is None and not above:
        found = tuple(_find_inner(program, word))
    if found:
        return [f"Use `gitcfg {line}`{_purpose(program, line)}." for line in found]
    line = " ".join(("gitcfg", *above))
    close = [f"`{line} {name}`" for name in get_close_matches(word, group.commands)]
    return [
        f"Did you mean {' or '.join(close)}?" if close else f"Run `{line} --help` for a list of commands."
    ]


def _find_inner(program: "grammar.Command", word: str) -> Iterator[str]:
    """Yield the commands of that name in groups."""
    for name, command in program.commands.items():
        if word in command.commands:
            yield f"{name} {word}"


def _purpose(program: "grammar.Command", line: str) -> str:
    """Return the purpose of the command in a line, to follow its name."""
    command = program
    for word in line.split():
        command = command.commands.get(word, command)
    return "" if command is program else f" to {command.help[:1].lower()}{command.help[1:]}"
