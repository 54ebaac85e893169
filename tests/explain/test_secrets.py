"""Who gets a secret and who may have it: what the nodes' own values and the condition say, node by node."""

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.explain.show import add_allowed, find_reaches, secrets_record
from gitcfg.git.tree import DictTree
from gitcfg.model.secrets import is_secret, secret_name
from tests.compile.fleets import TODAY

SECRETS = ("a", "b", "c")


def fleet(bound: dict[int, dict[str, str]]) -> Fleet:
    files = {
        "gitcfg.yaml": "format: 1\nundeclared: allow\n",
        "nodesets/s.yaml": "nodes: s[1-3]\nparams: {P: {$secret: a}, Q: plain}\n",
    }
    for name in SECRETS:
        files[f"secrets/{name}.yaml"] = (
            f"for: 'node.name.endsWith(\"1\")'\nversion: 2\nrecipients: [no key]\ndescription: {name}\n"
        )
        files[f"secrets/{name}.age"] = ""
    for number, params in bound.items():
        text = ", ".join(f"{param}: {{$secret: {name}}}" for param, name in params.items())
        files[f"nodes/n{number}.yaml"] = f"params: {{{text}}}\n"
    return compile_tree(DictTree(files), TODAY)


@given(
    st.dictionaries(
        st.integers(1, 5), st.dictionaries(st.sampled_from("PQR"), st.sampled_from([*SECRETS, "gone"]))
    )
)
def test_it_is_what_every_node_says_of_itself(bound: dict[int, dict[str, str]]) -> None:
    found = fleet(bound)
    held = {
        (secret_name(value), param, node)
        for node in found.names
        for param, value in found[node].params.items()
        if is_secret(value)
    }
    for one in add_allowed(found, find_reaches(found)):
        name = one.secret.name
        assert list(one.params) == sorted({param for which, param, _ in held if which == name})
        assert list(one.nodes) == sorted({node for which, _, node in held if which == name})
        assert list(one.may) == [node for node in found.names if node.endswith("1")]
    assert [one.secret.name for one in find_reaches(found)] == [*SECRETS]


def test_a_condition_that_fails_says_why() -> None:
    files = {
        "gitcfg.yaml": "format: 1\n",
        "nodes/n.yaml": "{}\n",
        "secrets/x.yaml": "for: 'node.facts.x == 1'\nversion: 1\nrecipients: [no key]\n",
        "secrets/y.yaml": "for: '('\nversion: 1\nrecipients: [no key]\n",
    }
    found = compile_tree(DictTree(files), TODAY)
    failing, unread = add_allowed(found, find_reaches(found))
    assert failing.may == unread.may == ()
    assert failing.problem
    assert unread.problem


def test_a_line_that_is_no_key_is_not_repeated() -> None:
    files = {
        "gitcfg.yaml": "format: 1\n",
        "secrets/x.yaml": "for: 'true'\nversion: 1\nrecipients: [AGE-SECRET-KEY-1CANARY]\n",
    }
    found = compile_tree(DictTree(files), TODAY)
    record = secrets_record(None, find_reaches(found), folded=True)
    assert "CANARY" not in str(record)
    assert record["secrets"][0]["recipients"] == [{"kind": None, "key": "", "comment": ""}]
    assert record["secrets"][0]["sealed"] is None
