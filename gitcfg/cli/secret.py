"""`gitcfg secret`: passwords, keys and tokens, encrypted in the repository."""

import typer

from gitcfg.cli.secrets import listed, put, rekey, rotate, show, who

_PURPOSE = "Keep passwords, keys and tokens in the repository, encrypted."
_OWN_WORDS = {"allow_extra_args": True}  # typer would say again what may be a content


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help=_PURPOSE)
    group.command("set", epilog=put.EPILOG, context_settings=_OWN_WORDS)(put.command)
    group.command("show", epilog=show.EPILOG)(show.command)
    group.command("rotate", epilog=rotate.EPILOG, context_settings=_OWN_WORDS)(rotate.command)
    group.command("rekey", epilog=rekey.EPILOG)(rekey.command)
    group.command("list", epilog=listed.EPILOG)(listed.command)
    group.command("who", epilog=who.EPILOG)(who.command)
    group.callback()(_group)
    app.add_typer(group, name=name)


def _group() -> None:
    """Keep passwords, keys and tokens in the repository, encrypted: secrets/NAME.yaml and NAME.age."""
