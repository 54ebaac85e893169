"""Files that hold secrets: their true content is on the disk in its place alone, and nobody tells it."""

import errno
import json
import pickle
import stat
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.install.commands import OUTPUT, SHORTEST, SystemClock, make_redaction, run_command
from gitcfg.install.disk import Disk
from gitcfg.install.drift import find_drift, recover
from gitcfg.install.installation import install, repair
from gitcfg.install.outcome import InstallError, Outcome, PackageError, StepFailed
from gitcfg.install.package import (
    UNKNOWN,
    Actions,
    Check,
    Package,
    Subsystem,
    package_from_json,
    package_to_json,
    with_hidden_content,
)
from gitcfg.install.record import read_installed, read_last_report
from gitcfg.install.staging import find_verified_content
from gitcfg.install.store import open_store
from tests.install.world import KILLED, POLICY, World, killed_at, made_file, package, secret_file, standing

CONFIG, PLAIN = "/etc/app/app.conf", "/etc/app/plain.conf"
TRUE, NEXT = "password = canary-one\n", "password = canary-two\n"


def bare(new: Package) -> Package:
    """As a record has it, or one whose contents nobody opened."""
    found: Package = package_from_json(json.loads(json.dumps(package_to_json(new))))
    return found


def first(world: World, *more: Subsystem) -> Package:
    made = package({CONFIG: secret_file(CONFIG, TRUE), PLAIN: "plain\n"}, world.daemon("app", CONFIG), *more)
    outcome = world.install(made, restart=("app",))
    assert (outcome.result, outcome.output) == ("ok", "")
    assert world.runs_with("app") == TRUE
    return made


def everything(world: World) -> bytes:
    """All that the state folder holds."""
    return b"\n".join(path.read_bytes() for path in world.state(".").rglob("*") if path.is_file())


def test_the_content_stands_and_the_record_has_its_sum_alone(world: World) -> None:
    made = first(world)
    assert standing(world.root)[CONFIG] == ("file", 0o600, 0, 0, TRUE.encode())
    assert b"canary" not in everything(world)
    record = read_installed(world.place())
    assert record == made
    assert record is not None
    assert record.files[CONFIG].true_content is None
    assert record.files[CONFIG].sha256 == made.files[CONFIG].sha256
    assert find_drift(world.place()) == ()


def test_what_is_staged_and_backed_up_is_roots_alone_and_goes(world: World) -> None:
    """The one while the application looks at it, the other while it can still go back."""
    first(world)
    state, script = world.state("."), "ls -lnR {0} > {1}; grep -rl can[a]ry {0} >> {1}"

    def look(name: str) -> tuple[str, ...]:
        return ("/bin/sh", "-c", script.format(state, world.daemons / name))

    looks = Subsystem("look", validate=look("staged"), restart=look("backup"))
    new = package({CONFIG: secret_file(CONFIG, NEXT, 2)}, looks, commit="b")
    assert world.install(new, restart=("look",)).result == "ok"
    for name in ("staged", "backup"):
        told = (world.daemons / name).read_text().splitlines()
        within = [line for line in told if line.startswith("/") and not line.endswith(":")]
        assert {Path(line).relative_to(state.resolve()).parts[0] for line in within} == {name}
        assert next(line for line in told if line.endswith(f" {name}")).startswith("drwx------")
        assert not world.state(name).exists()
    assert b"canary" not in everything(world)


def test_drift_is_found_by_the_sum_and_never_told_with_a_difference(world: World) -> None:
    first(world)
    world.write(CONFIG, "password = canary-changed\n")
    (found,) = find_drift(world.place())
    assert (found.path, found.kind) == (CONFIG, "changed")
    assert "canary" not in found.diff
    (world.root / CONFIG[1:]).chmod(0o644)
    assert "canary" not in find_drift(world.place())[0].diff
    world.write(CONFIG, TRUE)
    (found,) = find_drift(world.place())
    assert (found.kind, found.diff) == ("mode", "mode 0600 -> 0644\n")


def test_a_public_file_with_a_secret_is_not_told_either(world: World) -> None:
    made = package({CONFIG: secret_file(CONFIG, TRUE, mode="0644")})
    world.install(made)
    world.write(CONFIG, "password = canary-changed\n")
    assert "canary" not in find_drift(world.place())[0].diff


def test_repair_mends_what_it_can_and_spares_the_rest(world: World) -> None:
    first(world)
    world.write(CONFIG, "password = by hand\n")
    world.write(PLAIN, "by hand\n")
    outcome = repair(world.place(), POLICY)
    assert (outcome.result, outcome.changed) == ("ok", (PLAIN,))
    assert world.read(PLAIN) == "plain\n"
    assert [one.path for one in find_drift(world.place())] == [CONFIG]
    assert repair(world.place(), POLICY).result == "unchanged"
    (world.root / CONFIG[1:]).unlink()
    assert repair(world.place(), POLICY).result == "unchanged"


def test_repair_mends_a_mode_from_what_stands(world: World) -> None:
    first(world)
    (world.root / CONFIG[1:]).chmod(0o666)
    outcome = repair(world.place(), POLICY)
    assert (outcome.result, outcome.changed) == ("ok", (CONFIG,))
    assert standing(world.root)[CONFIG] == ("file", 0o600, 0, 0, TRUE.encode())


def test_repair_with_a_fresh_package_mends_all(world: World) -> None:
    concerned = made_file(CONFIG, "password = <secret pool v1>\n", "0600", app="reload")
    made = package({CONFIG: with_hidden_content(concerned, TRUE.encode())}, world.daemon("app", CONFIG))
    world.install(made, restart=("app",))
    world.write(CONFIG, "password = by hand\n")
    other = made._replace(digest="c" * 64)
    assert repair(world.place(), POLICY, other).result == "unchanged"
    outcome = repair(world.place(), POLICY, made)
    assert (outcome.result, outcome.changed, outcome.reloaded) == ("ok", (CONFIG,), ("app",))
    assert world.read(CONFIG) == TRUE == world.runs_with("app")
    assert b"canary" not in everything(world)


def test_a_content_that_was_not_handed_along_is_refused_with_nothing_touched(world: World) -> None:
    first(world)
    before = standing(world.root)
    new = package({CONFIG: secret_file(CONFIG, NEXT, 2)}, world.daemon("app", CONFIG), commit="b")
    for unread in (bare(new), bare(new)._replace(files={CONFIG: new.files[CONFIG]._replace(hidden=UNKNOWN)})):
        outcome = world.install(unread, reload=("app",))
        assert (outcome.result, outcome.step) == ("refused", "prepare")
        assert "does not include its content" in outcome.output
    assert standing(world.root) == before


def test_a_node_that_retires_needs_no_secrets(world: World) -> None:
    made = first(world)
    gone = {path: file._replace(hidden=UNKNOWN if file.hidden else None) for path, file in made.files.items()}
    outcome = world.install(made._replace(files=gone, state="retired", commit="b" * 40, digest="b" * 64))
    assert (outcome.result, outcome.removed) == ("ok", (CONFIG, PLAIN))
    assert not (world.root / CONFIG[1:]).exists()
    assert b"canary" not in everything(world)


def test_a_content_that_stands_need_not_be_handed_along(world: World) -> None:
    made = first(world)
    new = package({**made.files, PLAIN: "other\n"}, *made.subsystems.values(), commit="b")
    outcome = world.install(bare(new), reload=("app",))
    assert (outcome.result, outcome.changed) == ("ok", (PLAIN,))
    assert read_installed(world.place()) == new


def test_a_content_that_changes_in_this_moment_is_not_taken_from_what_stands(world: World) -> None:
    file = bare(first(world)).files[CONFIG]
    with open_store(world.place()) as store:
        assert find_verified_content(store, file) == TRUE.encode()
        world.write(CONFIG, "password = by hand\n")
        with pytest.raises(StepFailed):
            find_verified_content(store, file)
        (world.root / CONFIG[1:]).unlink()
        with pytest.raises(StepFailed):
            find_verified_content(store, file)


def test_a_secret_that_came_without_a_new_version_is_taken(world: World) -> None:
    """The digest is the same, and no comparison of commits tells what to do: the file's own word does."""
    shown = made_file(CONFIG, "password = <secret pool v1>\n", "0600", app="reload")
    made = package({CONFIG: with_hidden_content(shown, TRUE.encode())}, world.daemon("app", CONFIG))
    world.install(made, restart=("app",))
    again = made._replace(files={CONFIG: with_hidden_content(shown, NEXT.encode())})
    outcome = world.install(again)
    assert (outcome.result, outcome.reloaded) == ("ok", ("app",))
    assert world.runs_with("app") == NEXT


@pytest.mark.parametrize("where", ["validate", "restart", "check"])
def test_what_commands_say_is_told_without_secrets(world: World, where: str) -> None:
    target = world.root / CONFIG[1:]
    says = ("/bin/sh", "-c", f"seq 3000; cat {'{new}' + CONFIG if where == 'validate' else target}; exit 3")
    asked = {"check": Check(says), "restart": ("/bin/true",)} if where == "check" else {where: says}
    made = package({CONFIG: secret_file(CONFIG, TRUE)}, Subsystem("says", **asked))
    outcome = world.install(made, restart=("says",))
    assert (outcome.result, outcome.step) == ("reverted", f"{where} says")
    assert "\n<secret>" in outcome.output
    assert "canary" not in outcome.output
    assert "3000" in outcome.output
    assert outcome == read_last_report(world.place())
    assert b"canary" not in everything(world)


def talkative(world: World) -> tuple[Package, Package]:
    """What goes back tells the old secret, and fails."""
    target = world.root / CONFIG[1:]
    says = ("/bin/sh", "-c", f"cat {target}; grep -q one {target}")
    old = package({CONFIG: secret_file(CONFIG, "password = canary-old\n")}, Subsystem("says", reload=says))
    new = package({CONFIG: secret_file(CONFIG, NEXT, 2)}, Subsystem("says", reload=says), commit="b")
    assert world.install(old).result == "ok"
    return old, new


def test_the_way_back_is_told_without_secrets(world: World) -> None:
    _, new = talkative(world)
    outcome = world.install(new, reload=("says",))
    assert (outcome.result, outcome.step) == ("failed", "reload says")
    assert "<secret>" in outcome.output
    assert "canary" not in outcome.output
    assert b"canary" not in everything(world)


def test_the_way_back_of_who_comes_next_too(world: World) -> None:
    _, new = talkative(world)
    told: list[Outcome] = []
    for number in range(400):
        code = killed_at(
            number, "after", lambda disk: world.install_asked(new, Actions(reload=("says",)), disk)
        )
        outcome = recover(world.place())
        if outcome is not None:
            told.append(outcome)
            assert "canary" not in outcome.output
            assert b"canary" not in everything(world)
        if code != KILLED:
            break
    assert any("<secret>" in outcome.output for outcome in told)


def test_a_word_is_hidden_where_the_output_is_cut(world: World) -> None:
    """Whichever byte of it the end that is kept begins with."""
    redaction = make_redaction([(b"key = <secret k v1>\n", b"key = canary-of-length\n")])
    for more in range(OUTPUT - 30, OUTPUT + 5):
        said = run_command(
            ("/bin/sh", "-c", f"printf '%s' canary-of-length; head -c {more} /dev/zero | tr '\\0' x"),
            10,
            SystemClock(),
            redaction=redaction,
        )
        assert "canary"[-4:] not in said.output
        assert "length" not in said.output
        assert said.output.endswith("x" * (OUTPUT - 100))
    plain = run_command(("/bin/sh", "-c", "seq 5000"), 10, SystemClock())
    assert len(plain.output) == OUTPUT


VALUES = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=SHORTEST, max_size=40
).map(str.strip)
LITERALS = st.text("abc =:\"'{},[]\n", max_size=12)


@given(st.lists(st.tuples(LITERALS, VALUES.filter(lambda text: len(text) >= SHORTEST)), max_size=3), LITERALS)
def test_values_are_hidden_wherever_they_are_said(parts: list[tuple[str, str]], end: str) -> None:
    """One a line: a command that says the value alone does not tell it either."""
    shown = "\n".join(f"{text}<secret s v1>{text[::-1]}" for text, _ in parts) + end
    true = "\n".join(f"{text}{value}{text[::-1]}" for text, value in parts) + end
    redaction = make_redaction([(shown.encode(), true.encode())])
    for _, value in parts:
        for said in (value, f"bad: {value}!", true):
            if value not in shown and value.split("\n")[0]:
                assert value.encode() not in redaction.redact(said.encode())


def test_values_beside_each_other_and_escaped_ones() -> None:
    redaction = make_redaction(
        [(b'{"a": "<secret a v1>:<secret b v2>"}', b'{"a": "first \\"one\\":second"}')]
    )
    for value in ('first \\"one\\"', 'first "one"', "second"):
        assert redaction.redact(value.encode()) == b"<secret>"
    key = "-----BEGIN KEY-----\nAAAABBBB\nCCCCDDDD\n-----END KEY-----\n"
    redaction = make_redaction([(b"<secret key v1>\n", key.encode())])
    assert set(redaction.redact(key.encode()).split(b"\n")) == {b"<secret>", b""}
    assert make_redaction([(b"pin <secret pin v1>", b"pin 1234")]).redact(b"at 1234 s") == b"at 1234 s"


def test_as_json_and_back(world: World) -> None:
    made = package({CONFIG: secret_file(CONFIG, TRUE), PLAIN: "plain\n"})
    said = package_to_json(made)
    assert "canary" not in json.dumps(said)
    assert set(said["files"][PLAIN]) == {"content", "mode", "owner", "group", "digest", "concerns"}
    read = bare(made)
    assert read == made
    assert read.files[CONFIG].true_content is None
    said["files"][CONFIG].pop("hidden")
    assert package_from_json(said).files[CONFIG].hidden == UNKNOWN


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"sealed": "YWdl"}, "is still sealed"),
        ({"sealed": None, "hidden": {"sha256": "x", "size": 1}}, "not a hexadecimal hash"),
        ({"sealed": None, "hidden": {"sha256": "a" * 64, "size": -1}}, "not a number"),
        ({"sealed": None, "hidden": {"sha256": "a" * 64, "size": 1, "content": "x"}}, "unknown key"),
        ({"sealed": None, "hidden": []}, "not an object"),
    ],
)
def test_other_ways_to_say_it_are_refused(change: dict[str, object], why: str) -> None:
    said = package_to_json(package({PLAIN: "plain\n"}))
    said["files"][PLAIN].update(change)
    with pytest.raises(PackageError, match=why):
        package_from_json(said)


def test_no_way_to_print_it_has_the_content() -> None:
    made = package({CONFIG: secret_file(CONFIG, TRUE)})
    assert "canary" not in f"{made!r} {made} {made.files[CONFIG].hidden!r}"
    with pytest.raises(TypeError):
        pickle.dumps(made.files[CONFIG].hidden)
    with pytest.raises(TypeError):
        json.dumps(made.files[CONFIG].hidden)


def test_old_files_in_the_staged_root_are_as_they_stand(world: World) -> None:
    seen = world.daemons / "seen"
    first(world, Subsystem("asks", validate=("/bin/true", "{old}")))
    compare = ("/bin/sh", "-c", f"cat {{old}}{CONFIG} {{new}}{CONFIG} > {seen}")
    new = package({CONFIG: secret_file(CONFIG, NEXT, 2)}, Subsystem("asks", validate=compare), commit="b")
    assert install(world.place(), new, Actions(), POLICY).result == "ok"
    assert seen.read_text() == TRUE + NEXT
    assert stat.S_IMODE(world.state(".").stat().st_mode) == 0o700


class Full(Disk):
    """Has no room left from the moment that something holds."""

    def __init__(self, full: Callable[[], bool]) -> None:
        self.full = full

    def create(self, at: int, name: str) -> int:
        if self.full():
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().create(at, name)


@pytest.mark.parametrize("kind", ["full", "later"])
def test_what_is_staged_goes_where_nothing_else_can_be_done(world: World, kind: str) -> None:
    """The disk is full, or the journal is one that this version does not understand."""
    old, journal = first(world), world.state("journal")
    gone = package({CONFIG: secret_file(CONFIG, NEXT, 2), "/etc/app/deep/x": "x"}, *old.subsystems.values())
    new = gone._replace(commit="b" * 40, digest="b" * 64)
    number = next(n for n in range(300) if _dies_with_staged(world, n, new))
    assert number
    raw = journal.read_bytes()
    if kind == "later":
        other = b'{"begin": "x", "schema": "gitcfg.journal/9"}'
        journal.write_bytes(b"%08x %s\n" % (zlib.crc32(other), other))
        with pytest.raises(InstallError):
            recover(world.place())
    else:
        recover(world.place(Full(lambda: True)))
    assert not world.state("staged").exists()
    if kind == "later":
        journal.write_bytes(raw)
        assert recover(world.place())
    assert read_installed(world.place()) == old


def _dies_with_staged(world: World, number: int, new: Package) -> bool:
    killed_at(number, "after", lambda disk: world.install_asked(new, Actions(reload=("app",)), disk))
    staged = world.state("staged")
    if staged.exists() and any(
        b"canary" in path.read_bytes() for path in staged.rglob("*") if path.is_file()
    ):
        return True
    recover(world.place())
    return False
