"""What is found out between two steps: who is meant, what is idle, what may help, whether a value fits."""

from collections.abc import Mapping
from datetime import date

import pytest

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.values import TYPES
from gitcfg.edit.configure import (
    Advice,
    AdvisedAction,
    IdleParameter,
    Match,
    Step,
    Target,
    Work,
    check_binding,
    check_imagined,
    find_advice,
    find_definition,
    find_idle,
    find_nodes,
    find_target,
    format_diff,
    imagine_fleet,
    imagined_class,
    list_parameter_files,
    match_name,
    name_snapshot,
)
from gitcfg.edit.draft import Draft
from gitcfg.edit.orders import Action as OrderAction
from gitcfg.edit.orders import Order
from gitcfg.edit.yaml.changes import Given
from gitcfg.git.tree import DictTree
from gitcfg.library import in_memory
from gitcfg.load.repository import load
from gitcfg.model import GitcfgError
from tests.configure.pools import POOL

TODAY = date(2026, 1, 1)
WEB = Target("group", "web")


def pool(**changed: str) -> dict[str, str]:
    """The small pool with other groups and nodes: `web="..."` is groups/web.yaml."""
    return {**POOL, **{f"groups/{name}.yaml": text for name, text in changed.items()}}


def fleet(files: Mapping[str, str]) -> Fleet:
    return Fleet(load(DictTree(files)), DictTree(files), TODAY)


def of_group(files: Mapping[str, str], name: str = "web") -> Fleet:
    return imagine_fleet(load(DictTree(files)), DictTree(files), TODAY, name)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("web", WEB),
        ("group/web", WEB),
        ("n1", Target("node", "n1")),
        ("s2", Target("node", "s2")),
        ("nodeset/s", Target("nodeset", "s")),
        ("default", Target("group", "default")),
    ],
)
def test_a_target_is_found_by_its_name(text: str, found: Target) -> None:
    assert find_target(load(DictTree(POOL)), text) == found


def test_a_short_host_name_is_enough_where_it_is_unique() -> None:
    files = {**POOL, "nodes/db1.example.com.yaml": "{}\n", "nodes/db1.example.org.yaml": "{}\n"}
    model = load(DictTree({**files, "nodes/db2.example.com.yaml": "{}\n"}))
    assert find_target(model, "db2") == find_target(model, "node/db2") == Target("node", "db2.example.com")
    with pytest.raises(GitcfgError, match="db1 is short for several nodes"):
        find_target(model, "db1")


def test_a_name_of_two_things_is_refused_with_both() -> None:
    model = load(DictTree({**POOL, "nodes/web.yaml": "{}\n"}))
    with pytest.raises(GitcfgError) as refused:
        find_target(model, "web")
    assert refused.value.message == "web is the name of a node and of a group."
    assert refused.value.hints == ("Use node/web or group/web.",)
    assert find_target(model, "node/web") == Target("node", "web")


def test_a_default_group_without_a_file_may_be_configured() -> None:
    files = {path: text for path, text in POOL.items() if path != "groups/default.yaml"}
    found = find_target(load(DictTree(files)), "default")
    assert find_definition(load(DictTree(files)), found) is None
    assert found.order(load(DictTree(files))).action is OrderAction.NEW


def test_who_is_concerned() -> None:
    whole = in_memory(POOL)
    nodes = {
        name: find_nodes(whole.model, find_target(whole.model, name), lambda: whole.mentions)
        for name in NAMES
    }
    assert nodes == {
        "web": ("n1", "s1", "s2", "s3"),
        "default": ("n1", "n2", "s1", "s2", "s3"),
        "empty": (),
        "n2": ("n2",),
        "nodeset/s": ("s1", "s2", "s3"),
    }


NAMES = ("web", "default", "empty", "n2", "nodeset/s")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Web", Match("Web")),
        ("webm", Match("Webmail")),
        ("WEB", Match("Web")),
        ("We", Match(None, ("Web", "Webmail"), is_prefix=True)),
        ("Riwal", Match(None, ("Rival",))),
        ("xyz", Match(None)),
    ],
)
def test_names_match(text: str, found: Match) -> None:
    assert match_name(text, ("Web", "Webmail", "Rival")) == found


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        # only the removed feature mentions it
        ("features: [Loud]\nparams: {LEVEL: x}", "params: {LEVEL: x}", (IdleParameter("LEVEL", ("Loud",)),)),
        # ... binds it, by what it includes
        ("features: [Webmail]\nparams: {HOST: a}", "params: {HOST: a}", (IdleParameter("HOST", ("Web",)),)),
        # another feature binds it
        ("features: [Web, Webmail]\nparams: {HOST: a}", "features: [Web]\nparams: {HOST: a}", ()),
        # what stays here depends on it
        (
            "features: [Web]\nparams: {HOST: a, PORT: 8}",
            "params: {HOST: a, PORT: 8}",
            (IdleParameter("HOST", ("Web",)), IdleParameter("PORT", ("Web",))),
        ),
        # no feature ever asked for it
        ("features: [Rival]\nparams: {LEVEL: x}", "params: {LEVEL: x}", ()),
        # nothing has gone
        ("features: [Loud]\nparams: {LEVEL: x}", "features: [Loud, Base]\nparams: {LEVEL: x}", ()),
    ],
)
def test_what_is_idle(before: str, after: str, found: tuple[IdleParameter, ...]) -> None:
    old, new = of_group(pool(web=before)), of_group(pool(web=after))
    params = new.model.groups["web"].params
    assert (
        find_idle(params, "group web", [imagined_class(old)], [imagined_class(new)], new.declarations)
        == found
    )


def test_what_a_default_group_binds_too_is_not_idle() -> None:
    default = "params: {LEVEL: low}"
    old = of_group(pool(web="features: [Loud]\nparams: {LEVEL: x}", default=default))
    new = of_group(pool(web="params: {LEVEL: x}", default=default))
    assert (
        find_idle(["LEVEL"], "group web", [imagined_class(old)], [imagined_class(new)], new.declarations)
        == ()
    )


def test_what_a_file_names_is_not_idle() -> None:
    default = "files: {/etc/l: {format: env, params: [LEVEL]}}"
    old = of_group(pool(web="features: [Loud]\nparams: {LEVEL: x}", default=default))
    new = of_group(pool(web="params: {LEVEL: x}", default=default))
    assert (
        find_idle(["LEVEL"], "group web", [imagined_class(old)], [imagined_class(new)], new.declarations)
        == ()
    )


def test_what_stays_depends_on_what_would_be_idle() -> None:
    files = {
        **pool(web="features: [Web]\nparams: {HOST: a, LEVEL: x}"),
        "parameters/all.yaml": POOL["parameters/all.yaml"].replace(
            "type: string}\n  QUIET", "type: string, depends: [HOST]}\n  QUIET"
        ),
    }
    old, new = of_group(files), of_group({**files, "groups/web.yaml": "params: {HOST: a, LEVEL: x}"})
    assert (
        find_idle(
            ["HOST", "LEVEL"], "group web", [imagined_class(old)], [imagined_class(new)], new.declarations
        )
        == ()
    )


@pytest.mark.parametrize(
    ("web", "code", "found"),
    [
        ("features: [Web]", "GC301", (Advice(AdvisedAction.ADD, "Base"),)),
        (
            "features: [Web, Rival]",
            "GC302",
            (Advice(AdvisedAction.REMOVE, "Web"), Advice(AdvisedAction.REMOVE, "Rival")),
        ),
        (
            "features: [Rival, Webmail]",
            "GC302",
            (Advice(AdvisedAction.REMOVE, "Rival"), Advice(AdvisedAction.REMOVE, "Webmail", "Web")),
        ),
        ("params: {PORT: 1}", "GC303", (Advice(AdvisedAction.SET, "HOST"),)),
        (
            "params: {LEVEL: x, QUIET: true}",
            "GC304",
            (Advice(AdvisedAction.UNSET, "LEVEL"), Advice(AdvisedAction.UNSET, "QUIET")),
        ),
        ("features: [Web]", "GC305", ()),
    ],
)
def test_advice(web: str, code: str, found: tuple[Advice, ...]) -> None:
    alone = of_group(pool(web=web))
    finding = next(each for each in check_imagined(alone) if each.code == code)
    assert find_advice(finding, alone.model.groups["web"], alone.layers.reaches) == found


def test_advice_is_sound() -> None:
    """What was advised, done, makes the finding go."""
    before = of_group(pool(web="features: [Rival, Webmail, Base]\nparams: {HOST: a}"))
    finding = next(each for each in check_imagined(before) if each.code == "GC302")
    for each in find_advice(finding, before.model.groups["web"], before.layers.reaches):
        work = Work(DictTree(pool(web="features: [Rival, Webmail, Base]\nparams: {HOST: a}\n")))
        remove = {"features": (Given(each.name),)}
        work.take(Step("remove", (Order(OrderAction.MODIFY, "group", "web", remove=remove),)))
        after = imagine_fleet(load(work.draft.tree), work.draft.tree, TODAY, "web")
        assert "GC302" not in {finding.code for finding in check_imagined(after)}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("a.b", ""),
        ("{$secret: x}", ""),
        ("{$append: x}", "composes lists"),
        ("[1]", "is text, not a list"),
        ("A", "does not fit its schema"),
        ("null", ""),
        ("{$what: 1}", "$what"),
    ],
)
def test_a_value_fits(value: str, message: str) -> None:
    whole = fleet(pool(web=f"params: {{HOST: {value}}}\n", other="params: {PORT: x}\n"))
    found = check_binding(whole, whole.model.groups["web"], "HOST")
    assert bool(found) == bool(message), found
    assert all(message in each.message for each in found)


def test_an_empty_group_is_judged_as_if_somebody_were_in_it() -> None:
    found = check_imagined(of_group(pool(empty="features: [Web]"), "empty"))
    assert [(each.code, each.subjects, each.nodes) for each in found] == [
        ("GC301", ("Base",), ()),
        ("GC305", ("HOST",), ()),
    ]


def order(*, add: str = "", remove: str = "") -> Step:
    added = {"features": (Given(add),)} if add else {}
    removed = {"features": (Given(remove),)} if remove else {}
    return Step(add or remove, (Order(OrderAction.MODIFY, "group", "web", add=added, remove=removed),))


def test_steps_are_taken_back_one_by_one() -> None:
    work = Work(DictTree(POOL))
    assert work.take(order(add="Base"))
    once = dict(work.draft.files)
    assert not work.take(order(add="Base"))
    assert work.take(order(remove="Loud"))
    with pytest.raises(GitcfgError):
        work.take(order(remove="Loud"))
    assert work.back() == order(remove="Loud")
    assert work.draft.files == once
    work.back()
    assert work.draft.files == {}
    with pytest.raises(IndexError):
        work.back()


def test_steps_are_done_anew_to_another_tree() -> None:
    work = Work(DictTree(POOL))
    work.take(order(add="Base"))
    work.take(order(remove="Loud"))
    failed = work.onto(DictTree(pool(web="features: [Rival]\n")))
    assert [step for step, _ in failed] == [order(remove="Loud")]
    assert work.draft.files == {"groups/web.yaml": b"features: [Rival, Base]\n"}


def test_differences_are_told_as_git_does() -> None:
    draft = Draft(DictTree({**POOL, "groups/empty.yaml": "description: x"}))
    draft.write("groups/empty.yaml", "description: y\n")
    draft.write("nodes/n1.yaml", None)
    draft.write("nodes/n9.yaml", "{}\n")
    assert list(format_diff(draft)) == [
        "--- a/groups/empty.yaml",
        "+++ b/groups/empty.yaml",
        "@@ -1 +1 @@",
        "-description: x",
        "\\ No newline at end of file",
        "+description: y",
        "--- a/nodes/n1.yaml",
        "+++ /dev/null",
        "@@ -1 +0,0 @@",
        "-groups: [web]",
        "--- /dev/null",
        "+++ b/nodes/n9.yaml",
        "@@ -0,0 +1 @@",
        "+{}",
    ]


@pytest.mark.parametrize(
    ("target", "taken", "name"),
    [
        (WEB, (), "web-2026-01-01"),
        (WEB, ("web-2026-01-01", "web-2026-01-01-2"), "web-2026-01-01-3"),
        (Target("group", "GPU workers"), (), "GPU-workers-2026-01-01"),
        (Target("node", "a.b..c+"), (), "a-b-c-2026-01-01"),
    ],
)
def test_a_snapshot_gets_a_name_that_is_not_taken(target: Target, taken: tuple[str, ...], name: str) -> None:
    assert name_snapshot(target, TODAY, taken) == name


def test_the_file_with_the_most_parameters_is_the_first() -> None:
    few = "parameters: {ONE: {description: It., type: string}}\n"
    model = load(DictTree({**POOL, "parameters/a.yaml": few}))
    assert list_parameter_files(model) == ("parameters/all.yaml", "parameters/a.yaml")


def test_each_type_that_is_offered_is_one() -> None:
    declared = "\n".join(f"  P{number}: {{type: {each}}}" for number, each in enumerate(TYPES))
    model = load(DictTree({**POOL, "parameters/a.yaml": f"parameters:\n{declared}\n"}))
    assert {found.type for found in model.parameters.values()} == set(TYPES)
    assert not [
        finding
        for finding in in_memory({**POOL, "parameters/a.yaml": f"parameters:\n{declared}\n"}).findings
        if finding.is_error
    ]
