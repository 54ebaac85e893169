"""`gitcfg secret` as people use it: typed, piped, rotated and rekeyed; what is secret comes nowhere else."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from gitcfg.cli.main import run
from tests.cli.published import judge
from tests.cli.secretpool import ALICE, BOB, CANARY, CAROL, Pool
from tests.secrets.keypairs import age, ssh


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path)


def test_what_is_piped_is_what_is_revealed(pool: Pool) -> None:
    assert pool.begun().content() == CANARY
    assert pool.run("secret", "show", "pool").out.count("\n") == 8
    assert pool.content("--identity", pool.key("b", BOB)) == CANARY


@pytest.mark.parametrize("given", [b"", b"\n", b"a\0b", b"caf\xe9", b"x" * (1 << 20) + b"x"])
def test_what_no_secret_may_hold_changes_nothing(pool: Pool, given: bytes) -> None:
    done = pool.begun().run("secret", "set", "pool", given=given)
    assert done.code == 2
    assert "hint: " in done.error
    assert pool.content() == CANARY


def test_a_content_that_cannot_be_what_it_is_bound_to_is_told_and_not_said(pool: Pool) -> None:
    (pool.root / "parameters/p.yaml").write_text(
        "parameters:\n"
        "  PASSWORD: {description: d, secret: true, type: integer}\n"
        "  LEVEL: {description: d, secret: true, type: integer, schema: {maximum: 99}}\n"
        "  'PORT_*': {description: d, secret: true, type: string, schema: {pattern: '^[0-9]*$'}}\n"
        "  OTHER: {description: d, secret: true, type: boolean}\n"
    )
    (pool.root / "groups/default.yaml").write_text("features: [{feature: Listen, as: a}]\n")
    (pool.root / "features/Listen.yaml").write_text(
        "description: d\nparams: {'PORT_${as}': {$secret: pool}, LEVEL: {$secret: pool}, OTHER: null}\n"
    )
    kinds = [f"The secret pool does not fit: {param} is of type integer." for param in ("LEVEL", "PASSWORD")]
    schema = [f"The secret pool does not fit the schema of {param}." for param in ("LEVEL", "PORT_a")]
    begun = pool.begun().run("secret", "set", "pool", given=CANARY.encode())
    assert begun.code == 0
    assert warned(begun.error) == [*kinds, schema[1]]
    assert CANARY not in begun.error
    assert (
        begun.error.count("hint: Its nodes keep their configuration until the content is valid. Set another")
        == 1
    )
    assert warned(pool.run("secret", "set", "pool", given=b"100").error) == [schema[0]]
    assert warned(pool.run("secret", "set", "pool", given=b"99").error) == []
    assert kinds[0] in warned(pool.run("secret", "rotate", "pool").error)


def warned(error: str) -> list[str]:
    return [line.removeprefix("warning: ") for line in error.splitlines() if line.startswith("warning: ")]


def test_a_content_that_was_given_as_an_argument_is_not_repeated(pool: Pool) -> None:
    pool.begun()
    for words in (("set", "pool", CANARY), ("rotate", "pool", CANARY, "x")):
        done = pool.run("secret", *words, given=b"x")
        assert done.code == 2
        assert "too many: the content cannot be an argument." in done.error
        assert CANARY not in done.error
    assert pool.content() == CANARY


def test_without_stdin_no_content_comes(pool: Pool) -> None:
    def closed() -> None:
        sys.stdin = None

    done = pool.begun().ended(pool.start("secret", "set", "pool", before=closed))
    assert done.code == 2
    assert "stdin is closed" in done.error


def test_what_lost_its_content_gets_a_new_one(pool: Pool) -> None:
    (pool.begun().root / "secrets/pool.age").unlink()
    assert "version 1 (no content)" in pool.run("secret", "list").out
    assert "none: `gitcfg secret set pool`" in pool.run("secret", "show", "pool").out
    for words in (("rekey", "pool"), ("show", "pool", "--reveal")):
        assert "The secret pool has no content" in pool.run("secret", *words).error
    assert pool.run("secret", "set", "pool", given=b"new").code == 0
    assert pool.content() == "new"
    assert "version 2" in pool.run("secret", "list").out


def test_two_branches_that_rotate_are_a_conflict_and_never_mixed(pool: Pool) -> None:
    pool.begun().run("secret", "rotate", "pool", "--commit")
    pool.git("checkout", "-qb", "other")
    pool.run("secret", "rotate", "pool", "--commit")
    pool.git("checkout", "-q", "-")
    pool.run("secret", "rotate", "pool", "--commit")
    with pytest.raises(subprocess.CalledProcessError):
        pool.git("merge", "-q", "other")
    assert pool.git("diff", "--name-only", "--diff-filter=U") == "secrets/pool.age\n"
    assert "error[GC101] An unresolved merge" in pool.run("check").out
    assert "has damaged armor" in pool.run("secret", "show", "pool", "--reveal").error


def test_a_secret_may_hold_a_mebibyte_of_lines(pool: Pool) -> None:
    text = "line\n" * ((1 << 20) // 5)
    assert pool.begun().run("secret", "set", "pool", "--from", "-", given=text.encode()).code == 0
    assert pool.content() == text


def test_nothing_secret_is_anywhere_but_where_it_is_asked_for(pool: Pool) -> None:
    pool.begun().run("secret", "set", "pool", "--commit", given=CANARY.encode())
    bob = pool.key("b", BOB)
    calls = [
        ("secret", "rekey", "pool", "--add", "carol.pub", "--remove", "bob", "--commit"),
        ("secret", "rekey", "pool", "--remove", "alice"),
        ("secret", "show", "pool", "--reveal", "--identity", bob),
        ("secret", "show", "pool", "-o", "json"),
        ("secret", "list", "-o", "yaml"),
        ("secret", "who", "pool"),
        ("check",),
        ("render", "--all", "--out", "out"),
        ("render", "exec1", "-o", "json"),
        ("explain", "exec1", "PASSWORD"),
        ("values", "PASSWORD", "-o", "json"),
        ("diff", "HEAD", "-o", "json"),
    ]
    for words in calls:
        done = pool.run(*words)
        assert CANARY not in done.out + done.error, words
    assert pool.holding(CANARY) == []
    assert pool.holding("<secret pool v2>") != []  # so that what is there is found


def test_rotating_needs_no_key_and_nobody_knows_what_it_makes(pool: Pool) -> None:
    pool.begun()
    pool.own.unlink()
    assert pool.run("secret", "rotate", "pool", "--length", "64").code == 0
    made = pool.content("--identity", pool.key("a", ALICE))
    assert len(made) == 64
    assert made.isalnum()
    assert "version: 2\n" in (pool.root / "secrets/pool.yaml").read_text()


def test_who_goes_can_no_longer_open_it_and_is_said_to_have_seen_it(pool: Pool) -> None:
    done = pool.begun().run("secret", "rekey", "--remove", "bob", "--add", "carol.pub")
    assert done.code == 0
    assert done.error.splitlines() == [
        "warning: bob has seen the contents of these secrets.",
        "hint: Run `gitcfg secret rotate` for each of them: pool.",
    ]
    assert pool.content("--identity", pool.key("c", CAROL)) == CANARY
    gone = pool.run("secret", "show", "pool", "--reveal", "--identity", pool.key("b", BOB))
    assert gone.code == 2
    assert "Its recipients: alice, carol." in gone.error
    assert "version: 1\n" in (pool.root / "secrets/pool.yaml").read_text()


def test_several_who_go_have_seen_it(pool: Pool) -> None:
    pool.begun().run("secret", "rekey", "--add", "carol.pub")
    done = pool.run("secret", "rekey", "--remove", "bob", "--remove", "carol")
    assert done.error.splitlines()[0] == "warning: bob, carol have seen the contents of these secrets."


def test_who_takes_himself_out_is_told(pool: Pool) -> None:
    done = pool.begun().run("secret", "rekey", "pool", "--remove", "alice")
    assert "note: None of your keys is a recipient of pool, so you cannot decrypt it." in done.error
    again = pool.run("secret", "rekey", "pool", "--add", "alice.pub")
    assert again.code == 2
    assert "error: No key here can decrypt the secret pool." in again.error


def test_nobody_is_left_out_by_the_last_one(pool: Pool) -> None:
    done = pool.begun().run("secret", "rekey", "pool", "--remove", "alice", "--remove", "bob")
    assert done.code == 4
    assert "error: pool would have no recipient left." in done.error
    assert pool.content() == CANARY


def test_all_are_sealed_anew_or_none(pool: Pool) -> None:
    pool.begun()
    for name in ("other", "third"):
        words = ("secret", "set", name, "--for", "true", "--recipient", "bob.pub")
        assert pool.run(*words, given=b"x").code == 0
    before = pool.git("status", "--porcelain", "-uall") + (pool.root / "secrets/pool.yaml").read_text()
    done = pool.run("secret", "rekey", "--add", "carol.pub")
    assert done.code == 2
    assert "error: Cannot decrypt 2 secrets, so nothing was changed." in done.error
    assert "hint: other, third.\n" in done.error
    assert (
        pool.git("status", "--porcelain", "-uall") + (pool.root / "secrets/pool.yaml").read_text() == before
    )
    more = {"GITCFG_IDENTITY": os.pathsep.join((str(pool.own), pool.key("b", BOB)))}
    assert pool.run("secret", "rekey", "--add", "carol.pub", more=more).code == 0
    assert pool.content("--identity", pool.key("c", CAROL)) == CANARY
    assert pool.run("secret", "rekey", "--add", "carol.pub", more=more).error == "Nothing changes.\n"


def test_recipients_that_were_edited_by_hand_count_after_a_rekey(pool: Pool) -> None:
    file = pool.begun().root / "secrets/pool.yaml"
    file.write_text(file.read_text() + f"  - {CAROL.public}\n")
    assert "error[GC210]" in pool.run("check").out
    assert pool.run("secret", "rekey", "pool").code == 0
    assert "Nothing is wrong" in pool.run("check").error
    assert pool.content("--identity", pool.key("c", CAROL)) == CANARY


def test_the_content_of_a_commit_stays_what_it_was(pool: Pool) -> None:
    pool.begun().run("secret", "set", "pool", "--commit", "-m", "Two", given=b"two")
    pool.run("secret", "set", "pool", given=b"three")
    assert pool.content("--at", "HEAD") == "two"
    assert pool.content() == "three"
    assert pool.git("log", "-1", "--format=%s") == "Two\n"


def test_one_that_comes_back_counts_on(pool: Pool) -> None:
    pool.begun()
    for content in (b"two", b"three"):
        pool.run("secret", "set", "pool", "--commit", given=content)
    pool.git("rm", "-q", "secrets/pool.yaml", "secrets/pool.age")
    pool.git("commit", "-qm", "Gone")
    words = ("secret", "set", "pool", "--for", "true", "--recipient", "alice.pub", "--in", "secrets/deep")
    assert "pool now has version 4." in pool.run(*words, given=b"four").error


def test_a_rotation_that_was_taken_back_leaves_its_version_used(pool: Pool) -> None:
    pool.begun().run("secret", "set", "pool", "--commit", given=b"two")
    pool.run("secret", "rotate", "pool", "--commit")
    pool.git("revert", "--no-edit", "HEAD")
    assert "version 2" in pool.run("secret", "list").out
    assert "pool now has version 4." in pool.run("secret", "rotate", "pool").error
    pool.git("checkout", "-q", ".")
    assert "pool now has version 4." in pool.run("secret", "set", "pool", given=b"four").error


def test_one_that_gets_a_name_that_was_another_s_counts_on(pool: Pool) -> None:
    pool.begun().run("secret", "set", "pool", "--commit", given=b"two")
    assert pool.run("rename", "secret", "pool", "first", "--commit").code == 0
    assert "version: 2\n" in (pool.root / "secrets/first.yaml").read_text()
    words = ("secret", "set", "other", "--for", "true", "--recipient", "alice.pub", "--commit")
    pool.run(*words, given=b"another")
    assert pool.run("rename", "secret", "other", "pool").code == 0
    assert "version: 3\n" in (pool.root / "secrets/pool.yaml").read_text()
    assert pool.content() == "another"


def test_a_history_with_a_file_missing_is_told(pool: Pool) -> None:
    pool.begun()
    for content in (b"two", b"three"):
        pool.run("secret", "set", "pool", "--commit", given=content)
    gone = pool.git("rev-parse", "HEAD~:secrets/pool.yaml").strip()
    (pool.root / f".git/objects/{gone[:2]}/{gone[2:]}").unlink()
    done = pool.run("secret", "rotate", "pool")
    assert done.code == 2
    assert "error: Cannot read the git object " in done.error


def test_versions_are_found_however_they_are_written(pool: Pool) -> None:
    file = pool.begun().root / "secrets/pool.yaml"
    flow = f"{{for: 'true', version: 7, recipients: ['{ALICE.public}']}}\n"
    block = file.read_text()
    for text in (flow, flow.replace("version: 7", '"version": 9'), block):
        file.write_text(text)
        pool.git("add", "secrets")
        pool.git("commit", "-qm", "Written by hand")
    (pool.root / ".gitattributes").write_text("*.yaml -diff\n")
    assert "pool now has version 10." in pool.run("secret", "rotate", "pool").error


def test_a_repository_without_git_has_secrets_too(pool: Pool, tmp_path: Path) -> None:
    (pool.root / ".git").rename(tmp_path / "away")
    assert pool.begun().run("secret", "rotate", "pool").code == 0
    assert "version 2" in pool.run("secret", "list").out


def test_where_editors_have_schemas_the_content_is_no_yaml_all_the_same(pool: Pool) -> None:
    assert pool.run("schema", "--modelines").code == 0
    assert pool.begun().content() == CANARY
    assert (pool.root / "secrets/pool.yaml").read_text().startswith("# yaml-language-server: ")
    assert pool.run("schema", "--modelines").code == 0
    assert pool.content() == CANARY


def test_a_bare_repository_is_read_and_not_edited(pool: Pool, tmp_path: Path) -> None:
    pool.begun().run("secret", "set", "pool", "--commit", given=CANARY.encode())
    pool.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    pool.root = tmp_path / "bare"
    assert pool.content("--at", "HEAD") == CANARY
    for words in (("set", "pool"), ("rotate", "pool"), ("rekey", "pool")):
        done = pool.run("secret", *words, given=b"x")
        assert done.code in (2, 4), done
        assert "hint: " in done.error


def test_only_what_is_named_must_be_a_key_that_can_be_used(pool: Pool) -> None:
    locked = ssh("ed25519", 14, "-N", "a passphrase").private
    pool.begun().place(pool.own, locked)
    done = pool.run("secret", "show", "pool", "--reveal")
    assert f"hint: {pool.own} is protected by a passphrase." in done.error
    assert "There is no private key to try" in done.error
    named = pool.run("secret", "show", "pool", "--reveal", "--identity", str(pool.own))
    assert f"error: {pool.own} is protected by a passphrase." in named.error
    pool.place(pool.home / ".ssh/id_ed25519", ALICE.private)
    assert pool.content() == CANARY


def test_who_else_may_read_a_private_key_is_warned_of(pool: Pool) -> None:
    pool.begun().own.chmod(0o644)
    done = pool.run("secret", "show", "pool", "--reveal", "--identity", str(pool.own))
    assert done.out == CANARY
    assert f"warning: Other users can read {pool.own}. Run `chmod 600` on it." in done.error


def test_keys_of_ages_own_do_as_well(pool: Pool) -> None:
    pair = age("dora")
    pool.begun().run("secret", "rekey", "--add", pair.public)
    assert pool.content("--identity", pool.key("d", pair)) == CANARY


@pytest.mark.parametrize("output", ["json", "jsonl", "yaml"])
def test_what_programs_read_fits_its_schema(pool: Pool, output: str) -> None:
    pool.begun()
    for words in (("list",), ("show", "pool"), ("who", "pool")):
        for folded in ((), ("--folded",)):
            judge(pool.run("secret", *words, "-o", output, *folded).out, output)


def test_a_commands_name_and_its_record_agree(pool: Pool) -> None:
    record = json.loads(pool.begun().run("secret", "who", "pool", "-o", "json").out)
    (one,) = record["secrets"]
    assert one["nodes"] == one["may"]["nodes"] == [f"exec{number}" for number in range(1, 5)]
    assert [each["comment"] for each in one["recipients"]] == ["alice", "bob"]


def test_a_fault_reports_nothing_of_a_content(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(text: str, *_: Any) -> bytes:
        raise KeyError(text)

    content = tmp_path / "content"
    content.write_text(CANARY)
    pool.begun()
    monkeypatch.setattr("gitcfg.cli.secret.seal", failing)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name, value in pool.environment.items():
        monkeypatch.setenv(name, value)
    assert run(["-C", str(pool.root), "secret", "set", "pool", "--from", str(content)]) == 70
    (report,) = tmp_path.glob("gitcfg-fault-*.txt")
    text = report.read_text()
    assert "in failing\n" in text
    assert "KeyError" in text
    assert CANARY not in text + capsys.readouterr().err


def test_no_core_is_dumped_of_who_knows_a_secret(pool: Pool, tmp_path: Path) -> None:
    told = tmp_path / "limits"
    script = tmp_path / "editor"
    script.write_text(f"#!/bin/sh\nulimit -c > {told}; ulimit -Hc >> {told}\n")
    script.chmod(0o755)
    hook = pool.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    script.rename(hook)
    assert pool.begun().run("secret", "rotate", "pool", "--commit").code == 0
    assert told.read_text().split() == ["0", "0"]
