"""Hooks put into a folder and taken out again: what they do, and what stands in their way."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitcfg.edit.hooks import (
    SERVER,
    Action,
    Marker,
    Script,
    carry_out_steps,
    parse_marker,
    plan_install,
    plan_removal,
    plan_setting,
)
from gitcfg.git.hooks import FSCK, PUSH_OPTIONS, settings_in, with_settings, without_settings
from gitcfg.model import GitcfgError

SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
GIVEN = "0000 1111 refs/heads/a\n1111 2222 refs/heads/b\n"
NOBODY = 65534


@pytest.fixture(params=["plain", "with 'quotes' and \"more\" $HOME `x` \\t"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    made = tmp_path / str(request.param)
    (made / "hooks").mkdir(parents=True)
    return made


def program(place: Path, code: int = 0) -> tuple[str, ...]:
    """A gitcfg that writes down how it was called."""
    file = place / "git cfg"
    log = '$(dirname "$0")/log'
    file.write_text(f'#!/bin/sh\n{{ echo "gitcfg $*"; cat; }} >> "{log}"\nexit {code}\n')
    file.chmod(0o755)
    return (str(file),)


def hook(place: Path, name: str, code: int = 0, reads: bool = True) -> Path:
    """A hook that is there before."""
    file = place / "hooks" / name
    read = "cat; " if reads else ""
    file.write_text(f'#!/bin/sh\n{{ echo "old $*"; {read}}} >> "$(dirname "$0")/../log"\nexit {code}\n')
    file.chmod(0o755)
    return file


def install(place: Path, *names: str, code: int = 0) -> tuple[Action, ...]:
    steps = plan_install(place / "hooks", [Script(name, program(place, code)) for name in names])
    carry_out_steps(steps)
    return tuple(step.action for step in steps)


def remove(place: Path, *names: str) -> tuple[Action, ...]:
    steps = plan_removal(place / "hooks", names)
    carry_out_steps(steps)
    return tuple(step.action for step in steps)


def call(place: Path, name: str, shell: str = "sh", given: str = GIVEN) -> tuple[int, str, str]:
    """What a hook's code is, what was called, and what it says."""
    done = subprocess.run(
        [shell, f"hooks/{name}", "an argument"],
        cwd=place,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    log = place / "log"
    called = log.read_text() if log.exists() else ""
    log.unlink(missing_ok=True)
    return done.returncode, called, done.stderr


def state(place: Path) -> dict[str, tuple[int, bytes]]:
    """All that is below a folder, links as links."""
    return {
        str(path.relative_to(place)): (
            path.lstat().st_mode,
            os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(place.rglob("*"))
    }


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", SERVER)
def test_a_hook_calls_the_program(name: str, shell: str, place: Path) -> None:
    assert install(place, name) == (Action.WRITE,)
    assert call(place, name, shell) == (0, f"gitcfg --no-pager -C . hook {name}\n{GIVEN}", "")
    install(place, name, code=4)
    assert call(place, name, shell)[0] == 4
    subprocess.run([shell, "-n", str(place / "hooks" / name)], check=True)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("name", "old", "new", "code", "both"),
    [
        ("pre-receive", 0, 0, 0, True),
        ("pre-receive", 0, 4, 4, True),
        ("pre-receive", 3, 0, 3, False),
        ("post-receive", 0, 0, 0, True),
        ("post-receive", 3, 4, 3, True),
        ("post-receive", 0, 4, 4, True),
    ],
)
def test_what_was_there_runs_first(
    name: str, old: int, new: int, code: int, both: bool, shell: str, place: Path
) -> None:
    hook(place, name, old)
    assert install(place, name, code=new) == (Action.KEEP, Action.WRITE)
    ours = f"gitcfg --no-pager -C . hook {name}\n{GIVEN}" if both else ""
    assert call(place, name, shell) == (code, f"old an argument\n{GIVEN}{ours}", "")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("given", ["", "a\n", "no end", "\n\n", "x" * 300_000 + "\n"], ids=len)
def test_both_get_what_was_given_to_the_byte(given: str, shell: str, place: Path) -> None:
    hook(place, "pre-receive")
    install(place, "pre-receive")
    called = call(place, "pre-receive", shell, given)[1]
    assert called == f"old an argument\n{given}gitcfg --no-pager -C . hook pre-receive\n{given}"


@pytest.mark.parametrize("shell", SHELLS)
def test_what_was_there_need_not_read(shell: str, place: Path) -> None:
    hook(place, "pre-receive", reads=False)
    install(place, "pre-receive")
    code, called, said = call(place, "pre-receive", shell, "x" * 300_000)
    assert (code, said) == (0, "")
    assert called.endswith("hook pre-receive\n" + "x" * 300_000)


def test_what_git_would_not_run_is_not_run(place: Path) -> None:
    hook(place, "pre-receive", 3).chmod(0o644)
    install(place, "pre-receive")
    assert call(place, "pre-receive")[0] == 0
    remove(place, "pre-receive")
    assert (place / "hooks/pre-receive").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", SERVER)
def test_without_the_program_nothing_is_accepted(name: str, shell: str, place: Path) -> None:
    install(place, name)
    (place / "git cfg").unlink()
    code, called, said = call(place, name, shell)
    assert code == 127
    assert called == ""
    assert "Cannot run" in said
    assert f'`gitcfg hook install --server "{place}"`' in said
    (place / "git cfg").write_text("#!/no/such/python\n")
    (place / "git cfg").chmod(0o755)
    code, called, said = call(place, name, shell)
    assert code in (126, 127)
    assert "Cannot run" in said


@pytest.mark.parametrize("before", ["nothing", "hook", "link", "broken link", "no folder"])
def test_removing_puts_everything_back(before: str, place: Path) -> None:
    if before == "hook":
        hook(place, "post-receive").chmod(0o705)
    elif before == "link":
        (place / "hooks/post-receive").symlink_to("../elsewhere")
        (place / "elsewhere").write_text("#!/bin/sh\n")
    elif before == "broken link":
        (place / "hooks/post-receive").symlink_to("../nowhere")
    elif before == "no folder":
        (place / "hooks").rmdir()
    program(place)
    was = state(place)
    install(place, *SERVER)
    installed = state(place)
    assert installed != was
    assert set(install(place, *SERVER)) == {Action.STAY}
    assert state(place) == installed
    remove(place, *SERVER)
    assert state(place) == was
    assert remove(place, *SERVER) == ()


def test_a_link_runs_first_by_its_own_name(place: Path) -> None:
    (place / "shared").write_text('#!/bin/sh\necho "linked" >> "${0%/*}/../log"\nexit 0\n')
    (place / "shared").chmod(0o755)
    (place / "hooks/pre-receive").symlink_to("../shared")
    install(place, "pre-receive")
    assert (place / "hooks/pre-receive.before-gitcfg").is_symlink()
    assert call(place, "pre-receive", given="")[1] == "linked\ngitcfg --no-pager -C . hook pre-receive\n"


def test_gitcfgs_hook_may_itself_be_moved(place: Path) -> None:
    """As pre-commit does with a hook that it finds: it goes on running what was there before it."""
    hook(place, "pre-receive")
    install(place, "pre-receive")
    os.rename(place / "hooks/pre-receive", place / "hooks/pre-receive.legacy")
    assert call(place, "pre-receive.legacy")[1].startswith("old an argument\n")


def test_another_program_is_written_over_gitcfgs_own(place: Path) -> None:
    hook(place, "pre-receive")
    install(place, "pre-receive")
    carry_out_steps(plan_install(place / "hooks", [Script("pre-receive", ("/bin/sh", "-c", "exit 7"))]))
    assert call(place, "pre-receive") == (7, f"old an argument\n{GIVEN}", "")
    remove(place, "pre-receive")
    assert call(place, "pre-receive") == (0, f"old an argument\n{GIVEN}", "")


def test_a_hook_of_husky_goes_by_its_name(place: Path) -> None:
    """husky 9: its hooks are alike, and run what is called as they were."""
    (place / "hooks/h").write_text('echo "husky $(basename "$0") $*" >> "$(dirname "$0")/../log"\nexit 5\n')
    file = place / "hooks/pre-commit"
    file.write_text('#!/usr/bin/env sh\n. "$(dirname "$0")/h"')
    file.chmod(0o755)
    install(place, "pre-commit")
    assert call(place, "pre-commit") == (5, "husky pre-commit an argument\n", "")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        ("folder", "hooks/post-receive is not a file"),
        ("kept", "hooks/post-receive.before-gitcfg already exists"),
        ("kept beside another", "hooks/post-receive.before-gitcfg already exists"),
        ("file", "hooks is not a folder"),
    ],
)
def test_what_is_in_the_way_stays(make: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "hooks").mkdir()
    program(tmp_path)
    if make == "folder":
        (tmp_path / "hooks/post-receive").mkdir()
    elif make == "kept":
        hook(tmp_path, "post-receive.before-gitcfg")
    elif make == "kept beside another":
        hook(tmp_path, "post-receive.before-gitcfg")
        hook(tmp_path, "post-receive", 1)
    else:
        (tmp_path / "hooks").rmdir()
        (tmp_path / "hooks").write_text("")
    was = state(tmp_path)
    with pytest.raises(GitcfgError, match=told) as error:
        install(tmp_path, *SERVER)
    assert error.value.code == 4
    assert state(tmp_path) == was


def test_one_hook_judges_one_folder(tmp_path: Path) -> None:
    (tmp_path / "hooks").mkdir()
    carry_out_steps(plan_install(tmp_path / "hooks", [Script("pre-commit", ("a",), Marker("north"))]))
    with pytest.raises(GitcfgError, match="already checks the folder north"):
        plan_install(tmp_path / "hooks", [Script("pre-commit", ("a",), Marker("south"))])


@pytest.mark.parametrize(
    "text", ["", "#!/bin/sh\n", "a\nb\n# gitcfg.hook/1 {\n", "a\nb\n# gitcfg.hook/1 []\n"]
)
def test_what_another_wrote_is_not_gitcfgs(text: str) -> None:
    assert parse_marker(text.encode()) is None


def test_a_script_remembers_its_folder() -> None:
    folder = "a 'b\"\nc \udcff"
    text = Script("pre-commit", ("x",), Marker(folder)).text(None)
    assert parse_marker(text) == Marker(folder)
    subprocess.run(["sh", "-n"], input=text, check=True)


@pytest.fixture
def unwritable() -> Iterator[Path]:
    """A folder of hooks in which this process may not write, even if it is root's."""
    made = Path(tempfile.mkdtemp(prefix="gitcfg-hooks-"))
    made.chmod(0o755)
    (made / "hooks").mkdir()
    hook(made, "post-receive")
    program(made)
    (made / "hooks").chmod(0o555)
    root = os.geteuid() == 0
    try:
        if root:
            os.seteuid(NOBODY)
        yield made
    finally:
        if root:
            os.seteuid(0)
        (made / "hooks").chmod(0o755)
        shutil.rmtree(made)


def test_where_nobody_may_write_all_stays(unwritable: Path) -> None:
    was = state(unwritable)
    steps = plan_install(unwritable / "hooks", [Script(name, ("x",)) for name in SERVER])
    with pytest.raises(GitcfgError, match=r"Permission denied\. Nothing was changed"):
        carry_out_steps(steps)
    assert state(unwritable) == was


def with_both(text: bytes) -> bytes:
    return with_settings(text, (PUSH_OPTIONS, FSCK))


@pytest.mark.parametrize("wrong", range(5))
def test_what_fails_half_way_is_undone(wrong: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full at the n-th file, and a file of settings that another program holds."""
    (tmp_path / "hooks").mkdir()
    for name in SERVER:
        hook(tmp_path, name)
    (tmp_path / "config").write_text("[core]\n\tbare = true\n")
    program(tmp_path)
    was = state(tmp_path)
    steps = plan_install(tmp_path / "hooks", [Script(name, ("x",)) for name in SERVER])
    steps += plan_setting(tmp_path / "config", with_both)
    calls = iter(range(100))
    real = os.fsync

    def full(descriptor: int) -> None:
        if next(calls) == wrong:
            raise OSError(28, "No space left on device")
        real(descriptor)

    if wrong < 3:
        monkeypatch.setattr(os, "fsync", full)
    elif wrong == 3:
        (tmp_path / "config.lock").touch()
        was = state(tmp_path)
    else:
        (tmp_path / "config").write_text("[core]\n")
        was = state(tmp_path)
    with pytest.raises(GitcfgError, match="Nothing was changed"):
        carry_out_steps(steps)
    assert state(tmp_path) == was


def test_an_installation_that_was_killed_is_finished(tmp_path: Path) -> None:
    """The old hook has two names then."""
    (tmp_path / "hooks").mkdir()
    old = hook(tmp_path, "pre-receive")
    os.link(old, tmp_path / "hooks/pre-receive.before-gitcfg")
    install(tmp_path, "pre-receive")
    assert call(tmp_path, "pre-receive")[1].startswith("old an argument\n")
    remove(tmp_path, "pre-receive")
    assert sorted(os.listdir(tmp_path / "hooks")) == ["pre-receive"]


@pytest.mark.parametrize(
    "text", ["", "[core]\n\tbare = true\n", "[receive]\n\tdenyDeletes = true", "[receive]\n"]
)
def test_settings_are_put_back_to_the_byte(text: str, tmp_path: Path) -> None:
    was = text.encode()
    assert without_settings(with_both(was)) == was
    assert without_settings(was) == was
    file = tmp_path / "config"
    file.write_bytes(with_both(was))
    asked = ["git", "config", "--file", str(file), "receive.advertisePushOptions"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "true\n"
    assert settings_in(with_both(was)) == {FSCK, PUSH_OPTIONS}
    # One of an older version, and the other beside it.
    assert without_settings(with_settings(with_settings(was, [PUSH_OPTIONS]), [FSCK])) == was


def test_what_was_set_since_stays(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_bytes(with_both(b"[core]\n\tbare = true\n"))
    config = ["git", "config", "--file", str(file)]
    subprocess.run([*config, "receive.denyDeletes", "true"], check=True)
    file.write_bytes(without_settings(file.read_bytes()))
    told = subprocess.run([*config, "--list"], capture_output=True, text=True, check=True).stdout
    assert told == "core.bare=true\nreceive.denydeletes=true\n"


def test_a_removal_that_fails_half_way_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings are back already, and one hook of two."""
    (tmp_path / "hooks").mkdir()
    hook(tmp_path, "pre-receive")
    config = tmp_path / "config"
    config.write_bytes(b"")
    install(tmp_path, *SERVER)
    carry_out_steps(plan_setting(config, with_both))
    was = state(tmp_path)
    steps = plan_setting(config, without_settings) + plan_removal(tmp_path / "hooks", SERVER)
    assert [step.action for step in steps] == [Action.SET, Action.RESTORE, Action.DELETE]

    def refuse(place: Path) -> None:
        raise PermissionError(13, "Permission denied", str(place))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(GitcfgError, match=r"post-receive: Permission denied\. Nothing was changed"):
        carry_out_steps(steps)
    assert state(tmp_path) == was
