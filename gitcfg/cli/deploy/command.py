"""`gitcfg deploy`: deploy a commit to nodes over SSH."""

import typer

from gitcfg.cli.declaration import OutputOption, WhereOption, YesOption, command
from gitcfg.cli.deploy import options as say
from gitcfg.cli.records import Items
from gitcfg.cli.secret_options import Identity
from gitcfg.cli.server_state import Database, Server, StateFolder, Token, state_query
from gitcfg.cli.session import Output, Session

EPILOG = """Outcomes: ok, unchanged, differs, refused, reverted, failed, full, busy, sudo, no-python, timeout,
lost, auth, host-key, unreachable, skipped. Ctrl-C starts no other node; running ones finish.

Examples:

  gitcfg deploy                                 the last reviewed commit, to all nodes, after you confirm

  gitcfg deploy @rack3 --dry-run                show what it would change on a group's nodes

  gitcfg deploy --batch 1,10%,50% --max-failures 2% --yes -o jsonl"""


@command(EPILOG, Items("gitcfg.deploy/1", "nodes", "deployed"))
def deploy(
    context: typer.Context,
    nodes: say.Nodes = None,
    where: WhereOption = None,
    at: say.At = None,
    unreviewed: say.Unreviewed = False,
    reason: say.Reason = None,
    dry_run: say.DryRun = False,
    yes: YesOption = False,
    resume: say.Resume = None,
    batch: say.Batch = None,
    jobs: say.Jobs = 20,
    max_failures: say.MaxFailures = None,
    max_unreachable: say.MaxUnreachable = None,
    timeout: say.Timeout = "10m",
    connect_timeout: say.ConnectTimeout = "10s",
    user: say.User = None,
    ssh_config: say.SshConfig = None,
    accept_new: say.AcceptNew = False,
    sudo: say.Sudo = None,
    ask_sudo: say.AskSudo = False,
    root: say.Root = "/",
    state_dir: say.StateDir = "/var/lib/gitcfg",
    identity: Identity = None,
    server: Server = None,
    token: Token = None,
    database: Database = None,
    folder: StateFolder = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Deploy a commit to nodes over SSH, without an agent. Only what differs on a node is changed."""
    say.refuse_empty(context)
    session: Session = context.obj
    options = say.check_options(
        say.Which(tuple(nodes or ()), where, at, resume),
        say.Consent(yes, dry_run, unreviewed, reason),
        say.Limits.read(batch, jobs, max_failures, max_unreachable),
        say.SshOptions.read(
            (timeout, connect_timeout), (user, ssh_config, accept_new), (sudo, ask_sudo), (root, state_dir)
        ),
    )
    from gitcfg.cli.deploy.run import deploy

    return deploy(session, options, identity, state_query(context, database, folder, server, token), output)
