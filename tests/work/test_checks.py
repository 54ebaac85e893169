"""A check does each thing once, and after a change what the change concerns: counted, without a clock."""

from tests.work.guards import (
    CHANGED,
    CHECK,
    WITNESSES,
    a_node,
    each_thing_once,
    members,
    nothing_but_folders,
    only_these_are_hashed,
    only_what_changed,
    other,
    yaml,
)
from tests.work.pools import Pool


def test_a_cold_check_does_each_thing_once(committed: Pool) -> None:
    for at in ((), ("--at", "HEAD"), ("--staged",)):
        each_thing_once(committed, committed.fleet, committed.cold(*CHECK, *at))


def test_a_check_that_was_made_is_not_made_again(committed: Pool) -> None:
    for at in ((), ("--at", "HEAD"), ("--staged",)):
        nothing_but_folders(committed.warm(*CHECK, *at))


def test_work_tree_index_and_commit_share_what_is_known(committed: Pool) -> None:
    committed.cold(*CHECK)
    for at in (("--at", "HEAD"), ("--staged",)):
        nothing_but_folders(committed.run(*CHECK, *at))


def test_parsers_are_asked_once_about_each_file_and_never_again(committed: Pool) -> None:
    work = committed.cold("check", "-o", "json")
    fleet = committed.fleet
    files = sum(len(kind.files) for kind in fleet.classes)
    # Beside each distinct file: is HTCondor's parser there, and does it write out what it read?
    assert work.total("asked") <= files + 2
    assert work.most("spliced") == 1
    assert work.total("parsed") == len(yaml(committed))
    # Once for what gitcfg says of a class, once for each of its files that is written line by line.
    assert work.most("looked at") <= 3
    nothing_but_folders(committed.run("check", "-o", "json"))


def test_after_a_group_changed_its_nodes_are_checked(pool: Pool) -> None:
    pool.cold(*CHECK)
    pool.say(CHANGED, pool.files[CHANGED] + "# the first change\n")
    first = pool.run(*CHECK)  # which finds out, of all nodes once, who is in which group
    pool.say(CHANGED, other(pool))
    work = pool.run(*CHECK)
    only_what_changed(work, pool.fleet, CHANGED, members(pool.fleet, "group005"))
    assert set(work["hashed"]) == {str(pool.folder / CHANGED)}
    assert first.total("looked at") <= work.total("looked at") + WITNESSES
    assert first.most("unpacked") == 1


def test_after_a_node_changed_it_is_checked(pool: Pool) -> None:
    name, _ = a_node(pool)
    path = f"nodes/{name}.yaml"
    pool.cold(*CHECK)
    pool.say(path, pool.files[path] + "# changed\n")
    only_what_changed(pool.run(*CHECK), pool.fleet, path, [name])


def test_of_a_clean_work_tree_nothing_is_hashed(committed: Pool) -> None:
    assert committed.warm(*CHECK).total("hashed") == 0
    assert committed.warm("diff", "--stat").total("hashed") <= len("format: 1\n")


def test_of_a_dirty_file_its_bytes_are_hashed(pool: Pool) -> None:
    pool.cold(*CHECK)
    pool.say(CHANGED, other(pool))
    only_these_are_hashed(pool, pool.run(*CHECK), [CHANGED])
    again = pool.run(*CHECK)
    assert again.total("hashed") == len(pool.files[CHANGED])
    assert set(again.told()) == {"hashed", "folders"}
