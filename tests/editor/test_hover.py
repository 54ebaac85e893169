"""What is shown of a parameter says all that is declared, and shows texts as they are."""

from gitcfg.editor.parameters import hover_text
from gitcfg.model import Binding, Op, Origin, Parameter, Ref
from gitcfg.model.rules import Domain

AT = Origin("parameters/p.yaml")


def test_everything_declared_is_shown() -> None:
    default = Binding(Op.SET, ["a`b"], None, AT, AT)
    shown = hover_text(
        Parameter(
            "SLOT_*",
            AT,
            description="Not *bold*, no <b>.",
            type="list",
            schema={"minItems": 1},
            default=default,
            restart=True,
            depends=(Ref("OTHER", AT),),
            conflicts=(Ref("THIRD", AT),),
            level=2,
        )
    )
    assert shown.splitlines() == [
        r"Not \*bold\*, no \<b\>.",
        "",
        "- declared by the family `SLOT_*`",
        "- type: list",
        '- default: `` ["a`b"] ``',
        '- schema: `{"minItems":1}`',
        "- a change needs a restart",
        "- needs `OTHER`",
        "- conflicts with `THIRD`",
        "- for developers",
    ]


def test_the_values_that_rules_leave_are_shown_but_for_secrets() -> None:
    domain = {"ports": Domain("P", (80, "90-99"), AT, ())}
    assert (
        hover_text(Parameter("P", AT), domain).splitlines()[-1]
        == '- values by the rule `ports`: `[80,"90-99"]`'
    )
    family = hover_text(Parameter("P*", AT), domain).splitlines()[-1]
    assert family == '- values of `P` by the rule `ports`: `[80,"90-99"]`'
    assert (
        hover_text(Parameter("P", AT, secret=True), domain).splitlines()[-1] == "- values by the rule `ports`"
    )


def test_what_must_be_changed_says_so() -> None:
    assert "**must be changed**" in hover_text(Parameter("P", AT, must_change=True))
    assert hover_text(Parameter("P", AT)).strip() == "- any type"


def test_a_long_default_is_cut() -> None:
    default = Binding(Op.SET, "x" * 10_000, None, AT, AT)
    assert len(hover_text(Parameter("P", AT, default=default))) < 500
