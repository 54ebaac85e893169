"""Whole rounds of the program, from the first start to a server that is away."""

import os
import subprocess
from contextlib import ExitStack

import pytest

from gitcfg.agent.rounds import run_once, start_agent
from gitcfg.install.outcome import Busy
from gitcfg.install.package import Subsystem
from gitcfg.install.store import Limits, Place, hold_lock, open_store
from tests.agent.server import Handler, Reply
from tests.agent.site import CONFIG, Site, awaited, ready
from tests.install.world import made_file, package


def test_a_node_starts_pending_and_runs_what_was_accepted(site: Site) -> None:
    site.offer("one\n", "a")
    first = site.once()
    assert first.returncode == 4
    assert "not accepted yet" in first.stderr
    assert "gitcfg node accept n1" in first.stderr
    assert "n1 " + site.book.pending["n1"] == site.agent("key").stdout.strip()
    site.accept()
    second = site.once()
    assert (second.returncode, second.stdout) == (0, ""), second.stderr
    assert site.world.read(CONFIG) == "one\n"
    assert site.world.runs_with("app") == "one\n"
    assert site.book.results == [("a", "ok")]
    assert site.book.checkins[0]["running"] == {"commit": None, "digest": None, "since": None}
    assert site.book.checkins[-1]["running"]["commit"] == "a" * 40
    assert site.book.checkins[-1]["facts"]["cpus"] >= 1


def test_what_is_in_force_is_not_fetched_again(site: Site) -> None:
    ready(site)
    assert site.once().returncode == 0
    assert site.book.requests == ["POST /v1/nodes/n1/checkin"]
    assert site.book.results == []


def test_another_commit_with_the_same_result_is_what_runs(site: Site) -> None:
    ready(site)
    site.book.offer(site.package("one\n", "b")._replace(digest="a" * 64))
    assert site.once().returncode == 0
    assert site.once().returncode == 0
    assert site.book.requests == ["POST /v1/nodes/n1/checkin"] * 2
    assert site.book.checkins[-1]["running"]["commit"] == "b" * 40
    assert site.world.log("app") == []


def test_a_new_commit_is_reloaded_and_reported(site: Site) -> None:
    ready(site)
    site.offer("two\n", "b")
    assert site.once().returncode == 0
    assert site.world.log("app") == ["reload"]
    assert site.world.runs_with("app") == "two\n"
    assert site.book.results == [("b", "ok")]


@pytest.mark.parametrize(("text", "step"), [("refused\n", "validate app"), ("bad\n", "reload app")])
def test_a_commit_that_the_application_refuses_is_taken_back_and_reported(
    site: Site, text: str, step: str
) -> None:
    ready(site)
    site.offer(text, "b")
    done = site.once()
    assert done.returncode == 3
    assert site.world.read(CONFIG) == "one\n"
    assert site.world.runs_with("app") == "one\n"
    result = next(said["result"] for said in site.book.checkins if said["result"])
    assert (result["outcome"], result["step"]) == ("reverted", step)
    assert result["output"]
    assert set(result) == {"commit", "outcome", "step", "output", "seconds"}
    assert site.book.checkins[-1]["running"]["commit"] == "a" * 40


def test_what_failed_is_not_tried_again_at_once_and_a_fix_overtakes_it(site: Site) -> None:
    site.configure('interval = "1h"')
    ready(site)
    site.offer("bad\n", "b")
    assert site.once().returncode == 3
    site.world.log("app")
    again = site.once()
    assert (again.returncode, site.world.log("app")) == (3, [])
    assert "failed once" in again.stderr
    site.offer("three\n", "c")
    assert site.once().returncode == 0
    assert site.world.runs_with("app") == "three\n"


def test_without_a_server_the_last_good_one_stays_and_what_happened_is_told_later(site: Site) -> None:
    ready(site)
    site.offer("two\n", "b")
    site.configure('reach = "0s"')
    # After the changes were fetched nothing answers any more.
    site.book.away = lambda path: (
        any("/changes" in one for one in site.book.requests) and "/changes" not in path
    )
    assert site.once().returncode == 5
    assert site.world.runs_with("app") == "two\n"
    assert site.book.results == []
    site.book.away = lambda path: False
    assert site.once().returncode == 0
    assert site.book.results == [("b", "ok")]


def test_drift_is_mended_without_a_server(site: Site) -> None:
    ready(site)
    site.world.write(CONFIG, "by hand\n")
    drifted = site.agent("drift")
    assert drifted.returncode == 1
    assert "changed   /etc/app/app.conf" in drifted.stdout
    assert "+by hand" in drifted.stdout
    site.world.write(CONFIG, "\x1b[2J\u202eby hand\n")
    assert "+\ufffd[2J\ufffdby hand" in site.agent("drift").stdout
    latin = site.agent("drift", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (latin.returncode, "+\\ufffd[2J" in latin.stdout) == (1, True)
    site.world.write(CONFIG, "by hand\n")
    site.once()
    (found,) = site.book.checkins[-1]["drift"]
    assert (found["path"], found["kind"]) == (CONFIG, "changed")
    assert site.world.read(CONFIG) == "by hand\n"
    site.configure('drift = "repair"', server="http://127.0.0.1:9")
    assert site.once().returncode == 5
    assert site.world.read(CONFIG) == "one\n"
    assert site.agent("drift").returncode == 0


def test_drift_that_was_mended_is_told_as_mended(site: Site) -> None:
    ready(site)
    site.configure('drift = "repair"')
    site.world.write(CONFIG, "by hand\n")
    done = site.once()
    assert done.returncode == 0, done.stderr
    (said,) = site.book.checkins
    assert said["drift"] == []
    result = said["result"]
    assert (result["commit"], result["outcome"], result["step"]) == ("a" * 40, "ok", "repair")
    assert f"Repaired files that were changed by hand: {CONFIG}." in result["output"]
    assert "+by hand" in result["output"]
    assert site.world.read(CONFIG) == "one\n"
    assert site.once().returncode == 0
    assert len(site.book.results) == 1


def test_mending_does_not_hide_that_a_commit_failed(site: Site) -> None:
    site.configure('interval = "1h"')
    ready(site)
    site.offer("bad\n", "b")
    assert site.once().returncode == 3
    site.configure('interval = "1h"\ndrift = "repair"')
    site.world.write(CONFIG, "by hand\n")
    assert site.once().returncode == 3
    assert site.book.results == [("b", "reverted")]
    assert [one["path"] for one in site.book.checkins[-1]["drift"]] == [CONFIG]
    assert site.world.read(CONFIG) == "one\n"
    assert site.once().returncode == 3
    assert site.book.checkins[-1]["drift"] == []


def test_a_root_that_is_no_whole_path(site: Site) -> None:
    """Commands run at /: a path that begins here would lead them nowhere."""
    site.offer("one\n", "a")
    site.accept()
    root = site.world.root
    words = [*site.line("run")[:-1], root.name, "--once"]
    first = subprocess.run(words, cwd=root.parent, capture_output=True, text=True, check=False)
    assert (first.returncode, site.world.runs_with("app")) == (0, "one\n"), first.stderr
    site.offer("refused\n", "b")
    second = subprocess.run(words, cwd=root.parent, capture_output=True, text=True, check=False)
    assert second.returncode == 3, second.stderr
    assert site.book.results[-1] == ("b", "reverted")
    assert f"{root}/var/lib/gitcfg" in second.stderr
    assert site.world.runs_with("app") == "one\n"


def test_a_node_that_is_retired_stops_everything(site: Site) -> None:
    ready(site)
    site.book.offer(site.package("one\n", "b", state="retired"), stop=["app"])
    assert site.once().returncode == 0
    assert site.world.runs_with("app") is None
    assert not (site.world.root / CONFIG[1:]).exists()
    assert site.book.results == [("b", "ok")]


def test_a_retired_node_that_comes_back_starts_everything(site: Site) -> None:
    ready(site)
    site.book.offer(site.package("one\n", "b", state="retired"), stop=["app"])
    assert site.once().returncode == 0
    assert "(retired)" in site.agent("status").stdout
    site.offer("one\n", "c", restart=["app"])
    assert site.once().returncode == 0
    assert site.world.runs_with("app") == "one\n"


def test_a_node_that_git_forgot_stays_as_it_is(site: Site) -> None:
    ready(site)
    site.book.gone = True
    done = site.once()
    assert (done.returncode, site.world.runs_with("app")) == (4, "one\n")
    assert "no such node any more" in done.stderr


def test_what_the_policy_does_not_allow_is_refused_and_reported(site: Site) -> None:
    ready(site)
    outside = {
        "/etc/shadow": made_file("/etc/shadow", "x"),
        "/etc/gitcfg/agent.toml": made_file("/etc/gitcfg/agent.toml", ""),
    }
    made = site.package("two\n", "b")
    site.book.offer(made._replace(files={**made.files, **outside}), reload=["app"])
    assert site.once().returncode == 4
    assert site.world.runs_with("app") == "one\n"
    result = next(said["result"] for said in site.book.checkins if said["result"])
    assert result["outcome"] == "refused"
    assert "/etc/shadow" in result["output"]
    assert "/etc/gitcfg/agent.toml" in result["output"]


def test_a_command_that_the_policy_does_not_allow_is_refused_and_reported(site: Site) -> None:
    ready(site)
    folder = site.world.daemons
    other = Subsystem("other", restart=("/usr/bin/touch", str(folder / "ran")))
    site.book.offer(
        package({CONFIG: "two\n"}, site.app(), other, commit="b"), restart=["other"], reload=["app"]
    )
    assert site.once().returncode == 4
    assert (site.world.runs_with("app"), (folder / "ran").exists()) == ("one\n", False)
    result = next(said["result"] for said in site.book.checkins if said["result"])
    assert result["outcome"] == "refused"
    assert "/usr/bin/touch" in result["output"]


def test_somebody_elses_installation_is_no_failure_of_a_commit(site: Site) -> None:
    ready(site)
    site.offer("two\n", "b")
    place = Place(str(site.world.root), who="somebody", limits=Limits(lock_wait=0.1))
    agent = start_agent(place.root, "", place, lambda line: None, "0")
    with ExitStack() as stack:

        def busy(handler: Handler, reply: Reply) -> Reply:
            if "/changes" in handler.path:
                stack.enter_context(hold_lock(stack.enter_context(open_store(place)), place))
            return reply

        site.book.fault = busy
        with pytest.raises(Busy, match="somebody, process"):
            run_once(agent)
    agent.client.close()
    assert (site.book.results, site.world.runs_with("app")) == ([], "one\n")
    assert agent.memory.failure is None
    site.book.fault = None
    assert site.once().returncode == 0
    assert site.book.results == [("b", "ok")]


def test_a_configuration_that_cuts_the_node_off_is_taken_back(site: Site) -> None:
    ready(site)
    site.offer("two\n", "b")
    # As soon as the daemon runs with the new file nothing gets through.
    site.book.away = lambda path: site.world.runs_with("app") == "two\n"
    done = site.once()
    assert done.returncode == 3, done.stderr
    assert site.world.runs_with("app") == "one\n"
    result = next(said["result"] for said in site.book.checkins if said["result"])
    assert (result["outcome"], result["step"]) == ("reverted", "reach")
    assert "not reachable" in result["output"]


def test_a_clock_that_is_off_by_a_year(site: Site) -> None:
    site.book.offset = 365 * 86400.0
    ready(site)
    site.once()
    assert abs(site.book.checkins[-1]["clock_offset"] - site.book.offset) < 3
    assert "behind the server's" in site.agent("status").stdout


def test_a_server_that_does_not_know_the_old_commit_starts_everything(site: Site) -> None:
    ready(site)
    site.offer("two\n", "b", restart=["app"])
    del site.book.packages["a" * 40]
    assert site.once().returncode == 0
    assert site.world.log("app") == ["restart"]


def test_the_application_is_told_what_the_node_is(site: Site) -> None:
    path = "/etc/condor/config.d/60-node"
    site.configure(f'advertise = [{{htcondor = "{path}"}}]')
    site.world.write("/etc/condor/config.d/other", "")
    site.book.offer(site.package("one\n", "a", features=("App",), groups=("rack3",)), restart=["app"])
    site.accept()
    assert site.once().returncode == 0
    assert 'GITCFG_FEATURES = "App"\nGITCFG_GROUPS = "rack3"\n' in site.world.read(path)
    site.world.log("app")
    # Nothing changes but what the node is.
    same = site.package("one\n", "b", features=("App", "Gpu"), groups=())._replace(digest="a" * 64)
    site.book.offer(same)
    assert site.once().returncode == 0
    assert 'GITCFG_FEATURES = "App,Gpu"\nGITCFG_GROUPS = ""\n' in site.world.read(path)
    assert site.world.log("app") == []
    assert site.book.results == [("a", "ok"), ("b", "unchanged")]


def test_the_full_program_has_the_same_agent(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    from gitcfg.cli.main import run

    ready(site)
    assert run(["agent", "status", "--root", str(site.world.root)]) == 0
    assert capsys.readouterr().out == site.agent("status").stdout
    site.world.write(CONFIG, "by hand\n")
    assert run(["agent", "drift", "--root", str(site.world.root)]) == 1


def test_two_agents_at_once(site: Site) -> None:
    ready(site)
    site.start()
    awaited(lambda: site.book.requests)
    second = site.once()
    assert second.returncode == 4
    assert "Another agent is running" in second.stderr


def test_the_second_server_is_asked_when_the_first_is_away(site: Site) -> None:
    site.configure(f'server = ["http://127.0.0.1:9", "{site.url}"]')
    ready(site)


def test_a_key_that_others_can_read_is_refused(site: Site) -> None:
    ready(site)
    os.chmod(site.world.state("node.key"), 0o644)
    done = site.once()
    assert (done.returncode, "is readable by other users" in done.stderr) == (4, True)
