"""Engines of several trees that share one child."""

from contextlib import closing

import pytest

from gitcfg.render.templates import TemplateEngine, TemplateProblem, template_guard


def test_each_engine_renders_its_own_templates() -> None:
    with closing(template_guard()) as guard:
        engines = [TemplateEngine({"t": f"{number} {{{{ params.A }}}}"}, guard) for number in range(7)]
        for _ in range(2):
            for number, engine in enumerate(engines):
                assert engine.render("t", {"params": {"A": "x"}}) == f"{number} x"
                assert engine.analyse("t").params == (("A", 1),)


def test_after_the_child_has_died_another_gets_the_right_templates() -> None:
    endless = "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}"
    with closing(template_guard()) as guard:
        good, bad = (TemplateEngine({"t": text}, guard) for text in ("fine", endless))
        assert good.render("t", {}) == "fine"
        with pytest.raises(TemplateProblem):
            bad.render("t", {})
        assert good.render("t", {}) == "fine"


def test_what_one_engine_lacks_another_does_not_lend() -> None:
    with closing(template_guard()) as guard:
        whole = TemplateEngine({"t": "{% include 'u' %}", "u": "u"}, guard)
        part = TemplateEngine({"t": "{% include 'u' %}"}, guard)
        assert whole.render("t", {}) == "u"
        with pytest.raises(TemplateProblem, match="there is no template 'u'"):
            part.render("t", {})
