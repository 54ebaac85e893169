"""`gitcfg node`: which nodes are who they say."""

import typer

from gitcfg.cli import node_accept, node_forget, node_list, node_policy

_PURPOSE = "Accept nodes by their keys, and tell what they must let gitcfg do."


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help=_PURPOSE)
    group.command("accept", epilog=node_accept.EPILOG)(node_accept.command)
    group.command("list", epilog=node_list.EPILOG)(node_list.command)
    group.command("forget", epilog=node_forget.EPILOG)(node_forget.command)
    group.command("policy", epilog=node_policy.EPILOG)(node_policy.command)
    group.callback()(_group)
    app.add_typer(group, name=name)


def _group() -> None:
    """Accept nodes by their keys: keys/*.txt says who is who, reviewed in git as everything else."""
