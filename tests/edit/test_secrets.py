"""What an edit makes of secrets/NAME.yaml: versions rise, people's comments stay, nobody is left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.edit.draft import Draft
from gitcfg.edit.secrets import (
    SecretOptions,
    choose_secrets,
    parse_recipients,
    plan_rekey,
    plan_secret,
    reseal_secret,
    write_secret,
)
from gitcfg.git.tree import DictTree, Symlink
from gitcfg.load.repository import load
from gitcfg.model import GitcfgError, Secret
from gitcfg.model.age import Recipient, recipient
from tests.secrets.keypairs import ssh

ALICE, BOB, CAROL, DAVE = KEYS = [
    recipient(f"{ssh('ed25519', number).public.rpartition(' ')[0]} {name}")
    for number, name in enumerate(("alice", "bob", "carol: the 3rd", "dave"))
]
HEAD = '# Ask Bob.\ndescription: old\nfor: "true"   # all\nversion: 7  # since May\n'


def draft(**files: str | bytes) -> Draft:
    found = {f"secrets/{name.replace('__', '/').replace('_', '.')}": text for name, text in files.items()}
    return Draft(DictTree({"gitcfg.yaml": "format: 1\n", **found}))


def text_of(edited: Draft, path: str = "secrets/x.yaml") -> str:
    return edited.text(path) or ""


def lines(*keys: Recipient) -> str:
    return "recipients:\n" + "".join(
        f"  - '{key.key} {key.comment}'  # since {key.comment[0]}\n" for key in keys
    )


def reread(edited: Draft) -> Secret:
    return load(edited.tree).secrets["x"]


def put(edited: Draft, said: SecretOptions, sealed: str = "sealed") -> None:
    write_secret(edited, plan_secret(edited, "x", said), said, sealed)


def test_a_new_one_has_a_line_for_each_recipient() -> None:
    edited = draft()
    put(edited, SecretOptions("'a' in node.groups", "It's: new", (ALICE, CAROL)))
    assert text_of(edited) == (
        'description: "It\'s: new"\n'
        "for: '''a'' in node.groups'\n"
        "version: 1\n"
        "recipients:\n"
        f"  - {ALICE.key} alice\n"
        f'  - "{CAROL.key} carol: the 3rd"\n'
    )
    assert text_of(edited, "secrets/x.age") == "sealed"
    assert reread(edited).where is not None


def test_it_goes_on_counting_where_one_of_that_name_ended() -> None:
    edited = draft()
    put(edited, SecretOptions("true", None, (ALICE,), "secrets/deep/er", last=4))
    assert "version: 5\n" in text_of(edited, "secrets/deep/er/x.yaml")


def test_a_new_content_raises_the_version_and_touches_nothing_else() -> None:
    edited = draft(x_yaml=HEAD + lines(ALICE, BOB), x_age=b"\xff\0 binary")
    put(edited, SecretOptions())
    assert text_of(edited) == (HEAD + lines(ALICE, BOB)).replace("version: 7", "version: 8")
    assert edited.files["secrets/x.age"] == b"sealed"


def test_what_is_said_besides_takes_the_place_of_what_was() -> None:
    edited = draft(x_yaml=HEAD + lines(ALICE, BOB), x_age="")
    put(edited, SecretOptions("false", "new", (BOB, DAVE)))
    told = text_of(edited)
    assert told.startswith("# Ask Bob.\ndescription: new\nfor: 'false'   # all\nversion: 8  # since May\n")
    assert f"  - '{BOB.key} bob'  # since b\n" in told
    assert ALICE.key not in told
    assert parse_recipients(reread(edited)) == (BOB, DAVE)


@given(st.lists(st.sampled_from(KEYS), min_size=1, unique=True), st.data())
def test_who_comes_and_who_goes_is_all_that_changes(before: list[Recipient], data: st.DataObject) -> None:
    add = data.draw(st.lists(st.sampled_from(KEYS), unique=True))
    going = data.draw(st.lists(st.sampled_from(before), unique=True))
    edited = draft(x_yaml=HEAD + lines(*before), x_age="old")
    secret = reread(edited)
    words = [one.comment if number % 2 else one.key for number, one in enumerate(going)]
    stay = [one for one in before if one not in going]
    come = [one for one in add if one not in stay]
    if not stay and not come:
        with pytest.raises(GitcfgError, match="x would have no recipient left"):
            plan_rekey(secret, add, words)
        return
    plan = plan_rekey(secret, add, words)
    assert plan.version == 7
    assert list(plan.after) == stay + come
    reseal_secret(edited, plan, "new")
    assert set(parse_recipients(reread(edited))) == set(plan.after)
    assert text_of(edited).startswith(HEAD)
    for one in stay:
        assert f"  - '{one.key} {one.comment}'  # since {one.comment[0]}\n" in text_of(edited)


def test_recipients_in_brackets_stay_in_brackets() -> None:
    edited = draft(x_yaml=f"for: 'true'\nversion: 1\nrecipients: [{ALICE.key} alice, {BOB.key}]\n", x_age="")
    reseal_secret(edited, plan_rekey(reread(edited), (DAVE,), ("alice",)), "new")
    assert text_of(edited).endswith(f"\nrecipients: [{BOB.key}, {DAVE.key} dave]\n")


def test_one_with_two_keys_goes_with_both() -> None:
    other = recipient(f"{DAVE.key} alice")
    edited = draft(x_yaml=HEAD + lines(ALICE, BOB, other), x_age="")
    assert plan_rekey(reread(edited), (), ("alice",)).gone == (ALICE, other)


@pytest.mark.parametrize(
    ("files", "name", "said", "message"),
    [
        ({}, "a/b", SecretOptions("true", None, (ALICE,)), "a/b is not a valid name for a secret"),
        ({}, "x", SecretOptions(None, None, (ALICE,)), "selection of nodes that may have x is missing"),
        ({}, "x", SecretOptions("true"), "x has no recipient"),
        ({}, "x", SecretOptions("true", None, ()), "x has no recipient"),
        ({}, "x", SecretOptions("true", None, (ALICE,), "features"), "features is not a folder for secrets"),
        (
            {"deep__x_age": "?"},
            "x",
            SecretOptions("true", None, (ALICE,)),
            "secrets/deep/x.age exists without",
        ),
        ({"x_yaml": HEAD + "recipients: []\n"}, "x", SecretOptions(), "x has no recipient"),
        ({"x_yaml": "for: 'true'\nversion: one\n"}, "x", SecretOptions(), "secrets/x.yaml has errors"),
        (
            {"x_yaml": HEAD + "recipients: [age1qqq]\n"},
            "x",
            SecretOptions(),
            "secrets/x.yaml:5:14: The recipient is not a key",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    files: dict[str, str], name: str, said: SecretOptions, message: str
) -> None:
    edited = draft(**files)
    with pytest.raises(GitcfgError) as told:
        plan_secret(edited, name, said)
    assert message in told.value.message
    assert not edited.files


def test_a_link_in_the_place_of_a_secret_is_not_followed() -> None:
    files = {
        "gitcfg.yaml": "format: 1\n",
        "secrets/x.yaml": HEAD + lines(ALICE),
        "secrets/x.age": Symlink("/etc/x"),
    }
    with pytest.raises(GitcfgError, match="is a symlink"):
        put(Draft(DictTree(files)), SecretOptions())


def test_those_are_meant_that_are_named_or_that_somebody_can_read() -> None:
    edited = draft(a_yaml=HEAD + lines(ALICE, BOB), b_yaml=HEAD + lines(ALICE), c_yaml=HEAD + lines(DAVE))
    known = load(edited.tree).secrets.values()

    def names(named: list[str], going: list[str]) -> str:
        return "".join(secret.name for secret in choose_secrets(known, named, going))

    assert names([], []) == "abc"
    assert names([], ["alice"]) == "ab"
    assert names([], ["bob", DAVE.key]) == "ac"
    assert names(["c", "a", "c"], []) == "ca"
    assert names(["c", "a"], ["bob"]) == "ca"
    with pytest.raises(GitcfgError, match="alic is not a recipient of any of them"):
        names([], ["alic"])
    with pytest.raises(GitcfgError, match="bob is not a recipient of any of them"):
        names(["c"], ["bob"])
    with pytest.raises(GitcfgError, match="There is no secret d"):
        names(["d"], [])
