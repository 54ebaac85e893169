"""A deploy that is carried out: followed, recorded, interrupted, and told in the end."""

import gc
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial

import msgspec

from gitcfg.cli.deploying.commit import Chosen, records
from gitcfg.cli.deploying.following import All, Recording, Stops
from gitcfg.cli.deploying.records import About, Ending, record
from gitcfg.cli.deploying.signals import interrupting
from gitcfg.cli.deploying.written import Written
from gitcfg.cli.exits import INTERRUPTED, SOME_FAILED, TIME_RAN_OUT
from gitcfg.cli.server_state import StateQuery
from gitcfg.cli.session import Output, Session
from gitcfg.deploy.hosts import Spared
from gitcfg.deploy.listening import Finished, Listener
from gitcfg.deploy.messages import Hello, Order
from gitcfg.deploy.outcomes import WELL, Outcome, Result
from gitcfg.deploy.reach import Network
from gitcfg.deploy.record import Recorder, Run, run_id
from gitcfg.deploy.record_later import Later
from gitcfg.deploy.run import Deploy
from gitcfg.deploy.turns import Plan, Why
from gitcfg.deploy.visit import Entering
from gitcfg.library import Source
from gitcfg.model import REFUSED


class Deploying(msgspec.Struct, frozen=True):
    """All that a deploy is made of; `spared` are nodes that are left alone, and why."""

    plan: Plan
    network: Network
    entering: Entering
    orders: Callable[[str, Hello], Order]
    commit: Chosen
    spared: Mapping[str, Spared]
    who: str
    asked: StateQuery


def carry_out(session: Session, source: Source, deploying: Deploying, dry: bool, output: Output) -> int:
    """Carry it out, and tell it; the exit code. GitcfgError: it cannot be recorded, so it is not begun."""
    since = time.monotonic()
    run = _run(deploying)
    kept = bool(run.nodes) and not dry  # one of no nodes would only hide the last one that had some
    about = About(run.id if kept else None, run.commit, run.reason, dry, run.begun)
    with ExitStack() as stack:
        recorder = _recorder(source, run, stack) if kept else None
        followers: list[Listener] = [Recording(recorder)] if recorder is not None else []
        written = Written(about if output is Output.JSONL else None)
        followers += [written, _watching(session, deploying, output, stack)]
        orders = _heard(deploying, Later(records(source), run.nodes, time.time))
        following = msgspec.structs.replace(deploying, orders=orders)
        finished = _recorded(recorder, partial(_followed, following, All(followers), written))
    ending = Ending(finished.why, finished.because, time.monotonic() - since)
    try:
        if written.fault is not None:
            raise written.fault
        _tell(session, about, ending, finished.results, output)
    finally:
        if recorder is not None:
            _note(session, source, recorder, deploying.asked)
    return code(finished)


def _heard(deploying: Deploying, later: Later) -> Callable[[str, Hello], Order]:
    """Orders; what nodes say before is also written to earlier runs that had not heard of their end."""

    def order(node: str, hello: Hello) -> Order:
        made = deploying.orders(node, hello)
        later.heard(node, hello, made.dry)
        return made

    return order


def _recorded(recorder: Recorder | None, followed: Callable[[], Finished]) -> Finished:
    """How it ended, which stands in the record even where that is a fault of gitcfg's own.

    Of such a one only the kind is told there: what it says may quote a secret.
    """
    try:
        finished = followed()
    except Exception as fault:
        if recorder is not None:
            recorder.ended(Why.FAULT.value, f"gitcfg itself failed: {type(fault).__name__}.")
        raise
    if recorder is not None:
        recorder.ended(finished.why.value, finished.because)
    return finished


def _note(session: Session, source: Source, recorder: Recorder, asked: StateQuery) -> None:
    """Tell a server what was done, where there is one; what cannot be told or recorded is said."""
    from gitcfg.cli.deploy_reports import send_unsent_runs

    console = session.console(stderr=True)
    if recorder.fault:
        console.print(f"warning: Not all of it is recorded: {recorder.fault}.", style="yellow")
    for note in send_unsent_runs(source.repository, asked, records(source), time.time()):
        console.print(note)


def _run(deploying: Deploying) -> Run:
    now, commit = time.time(), deploying.commit
    names = (*deploying.plan.nodes, *sorted(deploying.spared))
    return Run(run_id(now), commit.commit, deploying.who, commit.reason, now, names, commit.resumes)


def _recorder(source: Source, run: Run, stack: ExitStack) -> Recorder:
    recorder = Recorder(records(source), time.time)
    recorder.begun(run)
    stack.callback(recorder.close)
    return recorder


def _watching(session: Session, deploying: Deploying, output: Output, stack: ExitStack) -> Listener:
    """Who shows how far it is: on a terminal that is free, else lines where no other lines are written."""
    stops = Stops(lambda said: session.console(stderr=True).print(said))
    if output is not Output.TEXT and not sys.stderr.isatty():
        return stops  # without rich before it says something: its modules take 30 ms
    from gitcfg.cli.deploying.live import Lines, Looking

    console = session.console(stderr=True)
    plan = deploying.plan
    free = output is not Output.JSONL or not sys.stdout.isatty()
    if free and console.is_terminal and sys.stderr.isatty() and not console.is_dumb_terminal:
        return stack.enter_context(Looking(console, len(plan.nodes), len(plan.sizes), time.monotonic))
    return Lines(console) if output is Output.TEXT else stops


def _followed(deploying: Deploying, listener: Listener, written: Written) -> Finished:
    """The deploy itself. Those that are left alone are told first."""
    spared = {
        name: Result(name, Outcome.REFUSED, message=why.message, hint=why.hint)
        for name, why in sorted(deploying.spared.items())
    }
    deploy = Deploy(deploying.plan, deploying.network, deploying.entering, deploying.orders, listener)
    written.left = partial(deploy.stop, Why.OUTPUT)
    for result in spared.values():
        listener.ended(result)
    # A connection is a circle of objects. What was made until now stays, and need not be looked at.
    gc.freeze()
    gc.enable()
    with interrupting(deploy.interrupt):
        finished = deploy.run()
    return Finished({**spared, **finished.results}, finished.why, finished.because)


def _tell(
    session: Session, about: About, ending: Ending, results: Mapping[str, Result], output: Output
) -> None:
    if output in (Output.JSON, Output.YAML):
        from gitcfg.cli.records import write_record

        write_record(record(about, ending, results), output)
    else:  # lines of JSON are of one node each: how it ended, and why, has no place among them
        from gitcfg.cli.deploying.told import summary, tell

        if output is Output.TEXT:
            tell(session.console(), results, about.dry)
        session.console(stderr=True).print(summary(about, ending, results))


def code(finished: Finished) -> int:
    """The exit code. Of several kinds of trouble none is all: then it is that some nodes failed."""
    if finished.why is Why.INTERRUPTED:
        return INTERRUPTED
    found = {result.outcome for result in finished.results.values()}
    trouble = found - WELL
    if not trouble:
        return int(Outcome.DIFFERS in found)
    return {frozenset((Outcome.REFUSED,)): REFUSED, frozenset((Outcome.TIMEOUT,)): TIME_RAN_OUT}.get(
        frozenset(trouble), SOME_FAILED
    )
