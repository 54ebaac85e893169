"""A deploy from its options to its exit code: everything is known and agreed to before it begins.

The first Ctrl-C starts no further node, the second waits for none, and the next ends the program. SIGTERM
does the same, and SIGHUP if it comes first: a terminal that is closed sends up to three signals, which must
leave no node half done.
"""

import gc
import getpass
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from types import FrameType

import msgspec

from gitcfg.cli import progress
from gitcfg.cli.commands import INTERRUPTED, SOME_FAILED, TIME_RAN_OUT
from gitcfg.cli.deploy.options import DeployOptions
from gitcfg.cli.deploy.output import (
    DeployEnd,
    DeployHead,
    JsonLines,
    Listeners,
    RunRecorder,
    StopNotes,
    deploy_to_json,
)
from gitcfg.cli.deploy.plan import (
    DeployCommit,
    ReviewedNodes,
    apply_review,
    choose_commit,
    choose_nodes,
    find_nodes,
    note_stale,
    open_contents,
    open_reviewed,
    refuse_errors,
)
from gitcfg.cli.server_state import StateQuery
from gitcfg.cli.session import Output, Session, confirm
from gitcfg.deploy.approval import SkipReason, find_secrets
from gitcfg.deploy.batches import Plan, allowed, batches
from gitcfg.deploy.messages import Hello, Order
from gitcfg.deploy.network import ConnectOptions, Network, Password
from gitcfg.deploy.orders import OrderOptions, Orders
from gitcfg.deploy.outcomes import WELL, EndReason, Outcome, Result
from gitcfg.deploy.records import Recorder, Run, find_runs_folder, run_id
from gitcfg.deploy.reports import LateOutcomes
from gitcfg.deploy.run import Deploy, Finished, Listener
from gitcfg.deploy.turn import LoginOptions
from gitcfg.git.history import History
from gitcfg.library import Fleet, Source
from gitcfg.model import REFUSED, GitcfgError, Share
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED, counted, safe
from gitcfg.nodeset import abridged
from gitcfg.rollout import plan_rollout

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Deployment(msgspec.Struct, frozen=True):
    """All parts of a deploy; `spared` are the nodes that are left out, and why."""

    plan: Plan
    network: Network
    entering: LoginOptions
    orders: Callable[[str, Hello], Order]
    commit: DeployCommit
    spared: Mapping[str, SkipReason]
    who: str
    query: StateQuery


def deploy(
    session: Session,
    options: DeployOptions,
    identity: Sequence[str] | None,
    query: StateQuery,
    output: Output,
) -> int:
    """Deploy, and return the exit code. Raise GitcfgError if it is refused, before anything begins."""
    source = session.open()
    commit = choose_commit(source, options)
    if note := note_stale(source, options, time.time()):
        session.console(stderr=True).print(note)
    with source.at(commit.commit) as fleet, open_reviewed(source, commit, fleet) as reviewed:
        names = find_nodes(session, fleet, options.which, commit)
        network = _network(options, fleet, reviewed, names)
        refuse_errors(session, fleet, names)
        found = choose_nodes(source, commit, names, query)
        grants = find_secrets(fleet, found.nodes)
        judgement = apply_review(session, commit, fleet, reviewed, found, grants)
        nodes = judgement.nodes
        left = {name: grants[name] for name in nodes.nodes if name in grants}
        secrets = open_contents(session, fleet, left, identity)
        _agree(source, commit, options, judgement)
        who = f"{getpass.getuser()}@{socket.gethostname()}"
        sending = OrderOptions(who, options.consent.dry, nodes.held, secrets)
        orders = Orders(source, fleet, nodes.nodes, sending)
        plan = _plan(fleet, commit.commit, options, nodes.nodes)
        ways = options.ways
        password = Password(_password()) if ways.ask_sudo else None
        entering = LoginOptions(time.monotonic, ways.timeout, ways.sudo, password, ways.root, ways.state)
        deployment = Deployment(plan, network, entering, orders.of, commit, nodes.spared, who, query)
        try:
            return run_deploy(session, source, deployment, options.consent.dry, output)
        finally:
            orders.close()
            network.close()


def _network(options: DeployOptions, fleet: Fleet, reviewed: Fleet | None, names: Iterable[str]) -> Network:
    """Return the network. Host keys and addresses are those reviewed last, for any commit.

    Otherwise a removed key would be trusted again, and an unreviewed commit could name any host. Raise
    GitcfgError if ssh_config cannot be read.
    """
    from gitcfg.deploy.ssh import Ssh

    keys = {name: key.text for name, key in reviewed.model.keys.items()} if reviewed is not None else {}
    addresses = {}
    for name in names:
        latest = reviewed if reviewed is not None and name in reviewed else fleet
        if address := latest.roster.definition(name).address:
            addresses[name] = address
    ways = options.ways
    return Ssh(
        ConnectOptions(
            time.monotonic,
            ways.ssh_config,
            ways.user,
            ways.connect_timeout,
            ways.accept_new,
            keys,
            addresses,
        )
    )


def _password() -> str:
    """Ask for the password on the terminal, without showing it; without a terminal read a line of stdin."""
    from gitcfg.secrets.store import forbid_core_dumps

    forbid_core_dumps()
    if sys.stdin.isatty():
        return getpass.getpass("Password for sudo on the nodes: ")
    line = sys.stdin.readline()
    if not line.strip():
        hint = "Without a terminal, the password is read from stdin."
        raise GitcfgError("--ask-sudo: the password is missing.", hint)
    return line.removesuffix("\n")


def _plan(fleet: Fleet, commit: str, options: DeployOptions, names: Sequence[str]) -> Plan:
    """Return the plan in the order of a release: nodes in gitcfg.yaml's `first`, then drawn by the commit."""
    limits, release = options.limits, fleet.model.settings.release
    first = release.first if release is not None else None
    order = plan_rollout(commit, names, None, fleet.compiled.select(first.name).names if first else ()).order

    def most(limit: Share | None) -> int | None:
        return None if limit is None else allowed(limit, len(order))

    sizes = batches(limits.batches, len(order))
    return Plan(order, sizes, limits.jobs, most(limits.failures), most(limits.unreached))


def _agree(source: Source, commit: DeployCommit, options: DeployOptions, judgement: ReviewedNodes) -> None:
    """Raise GitcfgError unless the user agrees, or if there is no terminal to ask on."""
    names = judgement.nodes.nodes
    if options.consent.yes or options.consent.dry or not names:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = "`gitcfg deploy` asks for confirmation, but there is no terminal."
        raise GitcfgError(message, "Use --yes to confirm in advance, or --dry-run to only show changes.")
    subject = safe(History(source.repository).about(commit.commit).subject)
    what = f"{commit.commit[:ABBREVIATED]} ({subject})"
    beyond = ", ".join(map(shown, judgement.beyond))
    besides = f" With secrets that were not reviewed like this: {beyond}." if beyond else ""
    question = f"Deploy {what} to {counted(len(names), 'node')}: {abridged(names)}?{besides}"
    if not confirm(question):
        raise GitcfgError("Nothing is deployed.", code=1)


def run_deploy(session: Session, source: Source, deployment: Deployment, dry: bool, output: Output) -> int:
    """Run a deploy, print the outcome, and return the exit code.

    Raise GitcfgError if it cannot be recorded.
    """
    since = time.monotonic()
    now, commit = time.time(), deployment.commit
    names = (*deployment.plan.nodes, *sorted(deployment.spared))
    run = Run(run_id(now), commit.commit, deployment.who, commit.reason, now, names, commit.resumes)
    recorded = bool(names) and not dry  # a record without nodes would only hide the last one that has some
    about = DeployHead(run.id if recorded else None, run.commit, run.reason, dry, run.begun)
    folder = find_runs_folder(source.repository)
    recorder: Recorder | None = None
    listeners: list[Listener] = []
    with ExitStack() as stack:
        if recorded:
            recorder = Recorder(folder, time.time)
            recorder.begun(run)
            stack.callback(recorder.close)
            listeners.append(RunRecorder(recorder))
        written = JsonLines(about if output is Output.JSONL else None)
        listeners += [written, _make_listener(session, deployment, output, stack)]
        orders = _complete_records(deployment, LateOutcomes(folder, names, time.time))
        completing = msgspec.structs.replace(deployment, orders=orders)
        finished = _record_end(recorder, partial(_follow, completing, Listeners(listeners), written))
    ending = DeployEnd(finished.why, finished.because, time.monotonic() - since)
    try:
        if written.fault is not None:
            raise written.fault
        _print_outcome(session, about, ending, finished.results, output)
    finally:
        if recorder is not None:
            _send_report(session, source, recorder, deployment.query)
    return exit_code(finished)


def _make_listener(session: Session, deployment: Deployment, output: Output, stack: ExitStack) -> Listener:
    """Return the listener for progress: a table on a free terminal, or lines if there is no other output."""
    progress.stop()
    stops = StopNotes(lambda text: session.console(stderr=True).print(text))
    if output is not Output.TEXT and not sys.stderr.isatty():
        return stops  # rich is imported only for output, because its modules take 30 ms
    from gitcfg.cli.deploy.live import LineProgress, LiveProgress

    console = session.console(stderr=True)
    plan = deployment.plan
    free = output is not Output.JSONL or not sys.stdout.isatty()
    if free and console.is_terminal and sys.stderr.isatty() and not console.is_dumb_terminal:
        return stack.enter_context(LiveProgress(console, len(plan.nodes), len(plan.sizes), time.monotonic))
    return LineProgress(console) if output is Output.TEXT else stops


def _complete_records(deployment: Deployment, late: LateOutcomes) -> Callable[[str, Hello], Order]:
    """Return the orders; the first reports of nodes also complete the records of earlier runs."""

    def order(node: str, hello: Hello) -> Order:
        made = deployment.orders(node, hello)
        late.heard(node, hello, made.dry)
        return made

    return order


def _record_end(recorder: Recorder | None, follow: Callable[[], Finished]) -> Finished:
    """Record the end of a deploy, even after an internal error of gitcfg.

    Only the type of such an error is recorded, because its message may quote a secret.
    """
    try:
        finished = follow()
    except Exception as fault:
        if recorder is not None:
            recorder.ended(EndReason.FAULT.value, f"gitcfg itself failed: {type(fault).__name__}.")
        raise
    if recorder is not None:
        recorder.ended(finished.why.value, finished.because)
    return finished


def _follow(deployment: Deployment, listener: Listener, written: JsonLines) -> Finished:
    """Run the deploy; nodes that are left out are reported first."""
    spared = {
        name: Result(name, Outcome.REFUSED, message=why.message, hint=why.hint)
        for name, why in sorted(deployment.spared.items())
    }
    deploy = Deploy(deployment.plan, deployment.network, deployment.entering, deployment.orders, listener)
    written.left = partial(deploy.stop, EndReason.OUTPUT)
    for result in spared.values():
        listener.ended(result)
    # A connection is a cycle of objects. The objects until now stay, so the collector need not check them.
    gc.freeze()
    gc.enable()
    with handle_signals(deploy.interrupt):
        finished = deploy.run()
    return Finished({**spared, **finished.results}, finished.why, finished.because)


@contextmanager
def handle_signals(interrupt: Callable[[], None]) -> Iterator[None]:
    """Let signals interrupt a deploy: after the first no further node begins, the second waits for none.

    From the third on they end the program as usual. SIGINT and SIGTERM count, and SIGHUP if it comes first: a
    terminal that is closed sends up to three of these (its own, the shell's, its end's), and closing it must
    not leave nodes half done.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    count = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal count
        if number == signal.SIGHUP and count:
            return
        count += 1
        interrupt()
        if count == 2:
            _restore(before)

    for number in _SIGNALS:
        if before[number] is not signal.SIG_IGN:  # a user of nohup wants it ignored
            signal.signal(number, handle)
    try:
        yield
    finally:
        _restore(before)


def _restore(before: Mapping[signal.Signals, object]) -> None:
    for number, handler in before.items():
        if handler is not None:
            signal.signal(number, handler)  # type: ignore[arg-type]


def _print_outcome(
    session: Session, about: DeployHead, ending: DeployEnd, results: Mapping[str, Result], output: Output
) -> None:
    if output in (Output.JSON, Output.YAML):
        from gitcfg.cli.records import write_record

        write_record(deploy_to_json(about, ending, results), output)
    else:  # lines of JSON are about one node each, so the end and its reason are not among them
        from gitcfg.cli.deploy.output import format_summary, print_results

        if output is Output.TEXT:
            print_results(session.console(), results, about.dry)
        session.console(stderr=True).print(format_summary(about, ending, results))


def exit_code(finished: Finished) -> int:
    """Return the exit code; several kinds of failures at once count as failed nodes."""
    if finished.why is EndReason.INTERRUPTED:
        return INTERRUPTED
    outcomes = {result.outcome for result in finished.results.values()}
    trouble = outcomes - WELL
    if not trouble:
        return int(Outcome.DIFFERS in outcomes)
    if trouble == {Outcome.REFUSED}:
        return REFUSED
    return TIME_RAN_OUT if trouble == {Outcome.TIMEOUT} else SOME_FAILED


def _send_report(session: Session, source: Source, recorder: Recorder, query: StateQuery) -> None:
    """Report the deploy to a server, if there is one; print what could not be sent or recorded."""
    from gitcfg.cli.deploys import send_unsent_runs

    console = session.console(stderr=True)
    if recorder.fault:
        console.print(f"warning: The record of the deploy is incomplete: {recorder.fault}.", style="yellow")
    for note in send_unsent_runs(source.repository, query, find_runs_folder(source.repository), time.time()):
        console.print(note)
