"""The commands by name, in the groups in which help and the reference list them."""

from collections.abc import Mapping

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
"""By the heading of a group the modules of its commands."""

COMMANDS: Mapping[str, str] = {
    name: module for modules in GROUPS.values() for name, module in modules.items()
}
