"""Templates: what they render, what they mention, and that hostile ones only harm themselves."""

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from gitcfg.render.templates import TemplateEngine, TemplateProblem

CONTEXT: dict[str, Any] = {
    "params": {"HOST": "h1", "BARE": None, "LIST": ["a", "b"], "MAP": {"k": 1}, "agent.interval": 3},
    "node": {"name": "n1", "groups": ["g"], "features": ["F"], "labels": [], "facts": {"rack": 3}},
    "features": ["F"],
    "groups": ["g"],
}


def render(source: str, **others: str) -> str:
    with TemplateEngine({"t": source, **others}) as engine:
        return engine.render("t", CONTEXT)


def problem(source: str, **others: str) -> TemplateProblem:
    with pytest.raises(TemplateProblem) as raised:
        render(source, **others)
    return raised.value


@pytest.fixture(scope="module")
def hostile() -> Iterator[TemplateEngine]:
    with TemplateEngine({**HOSTILE, "good": "{{ params.HOST }}\n"}) as engine:
        yield engine


# What templates render


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("plain\n", "plain\n"),
        ("{{ params.HOST }} {{ node.name }} {{ node.facts.rack }}", "h1 n1 3"),
        ("[{{ params.BARE }}]", "[]"),
        ("<{{ '&' }}>", "<&>"),
        ("{% for f in features %}{{ f }}{% endfor %}{{ groups | join(',') }}", "Fg"),
        ('{{ params["agent.interval"] }} {{ params.get("NONE", 7) }}', "3 7"),
        ("{{ params.NONE is defined }} {{ params.NONE | default('d') }}", "False d"),
        ("{{ params.LIST | map('upper') | join('+') }} {{ params.LIST | reverse | list }}", "A+B ['b', 'a']"),
        ("{{ 'abc' | reverse }} {{ [1, 1, 2] | unique | list }}", "cba [1, 2]"),
        ("{% set c = cycler('x', 'y') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}", "xyx"),
        ("{% for i in range(3) %}{{ loop.cycle('a', 'b') }}{% endfor %}", "aba"),
        ("{{ params.LIST }} {{ params.MAP }}", "['a', 'b'] {'k': 1}"),
        ("{% include 'other' %}", "other h1"),
        ("{% import 'macros' as m %}{{ m.host('x') }}", "x on h1"),
        ("{% extends 'base' %}{% block b %}{{ super() }}!{% endblock %}", "(base!)"),
        ("{% include ['none', 'other'] %}{% include 'none' ignore missing %}", "other h1"),
    ],
)
def test_rendering(source: str, output: str) -> None:
    others = {
        "other": "other {{ params.HOST }}",
        "macros": "{% macro host(x) %}{{ x }} on {{ params.HOST }}{% endmacro %}",
        "base": "({% block b %}base{% endblock %})",
    }
    assert render(source, **others) == output


def test_a_rendering_leaves_nothing_to_the_next() -> None:
    counter = (
        "{% set ns = namespace(n=0) %}{% macro next() %}{% set ns.n = ns.n + 1 %}{{ ns.n }}{% endmacro %}"
    )
    with TemplateEngine({"t": "{% import 'counter' as c %}{{ c.next() }}", "counter": counter}) as engine:
        assert [engine.render("t", CONTEXT) for _ in range(3)] == ["1", "1", "1"]


# Problems, for people


@pytest.mark.parametrize(
    ("source", "line", "message", "hint"),
    [
        ("\n{{ params.HOTS }}", 2, "'params.HOTS' is undefined", "did you mean params.HOST?"),
        ("{{ params.agent }}", 1, "'params.agent' is undefined", 'did you mean params["agent.interval"]?'),
        ("{{ HOST }}", 1, "'HOST' is undefined", "write params.HOST"),
        (
            *("{{ params|attr('HOST') }}", 1, "'params.HOST' is undefined"),
            "write params.HOST: `attr` does not search in a map",
        ),
        ("{{ params|attr('HOTS') }}", 1, "'params.HOTS' is undefined", "did you mean params.HOST?"),
        ("{{ grups }}", 1, "'grups' is undefined", "did you mean groups?"),
        ("{{ node.nam }}", 1, "'node.nam' is undefined", "did you mean node.name?"),
        ("{{ node.facts.rak }}", 1, "'node.facts.rak' is undefined", "did you mean node.facts.rack?"),
        ("{{ params.MAP.none }}", 1, "a map has no 'none'", ""),
        ("{{ [params.NONE] }}", 1, "'params.NONE' is undefined", ""),
        ("a\n{% if %}", 2, "Expected an expression, got 'end of statement block'", ""),
        ("{{ 1 | nosuch }}", 1, "No filter named 'nosuch'", ""),
        ("\n\n{{ 1 / 0 }}", 3, "division by zero", ""),
        ("{% include 'gone' %}", 1, "there is no template 'gone'", ""),
        ("\n{% include 'te' %}", 2, "there is no template 'te'", "did you mean 't'?"),
    ],
)
def test_a_problem_has_a_line_and_a_hint(source: str, line: int, message: str, hint: str) -> None:
    found = problem(source)
    assert (found.message, found.line, found.name, found.hint) == (message, line, "t", hint)


def test_a_problem_in_an_included_template_names_that_one() -> None:
    found = problem("{% include 'inner' %}", inner="\n\n{{ params.NONE }}")
    assert (found.name, found.line) == ("inner", 3)


def test_a_problem_can_go_to_another_process() -> None:
    found = pickle.loads(pickle.dumps(problem("{{ params.HOTS }}")))
    assert (str(found), found.hint) == ("t:1: 'params.HOTS' is undefined", "did you mean params.HOST?")


def test_a_value_beyond_64_bits_is_a_problem_not_a_crash() -> None:
    with TemplateEngine({"t": "x"}) as engine:
        with pytest.raises(TemplateProblem, match="cannot be given a value"):
            engine.render("t", {"params": {"BIG": 2**80}})
        assert engine.render("t", {}) == "x"


# Analysis


def test_analysis_names_parameters_with_their_first_lines() -> None:
    source = (
        "{{ params.A }}{{ params['B.c'] }}\n{{ params.get('C', 1) }}{{ params.A }}\n"
        "{% if params.D is defined %}{% endif %}{{ params.items() | list }}\n"
        "{{ x.params.no }}{{ params[x] }}{# params.no #}{% raw %}{{ params.no }}{% endraw %}"
    )
    with TemplateEngine({"t": source}) as engine:
        found = engine.analyse("t")
    assert found.params == (("A", 1), ("B.c", 1), ("C", 2), ("D", 3))
    assert found.problem is None


@pytest.mark.parametrize(
    "source",
    [
        "{% for params in [] %}{{ params.X }}{% endfor %}",
        "{% macro m(params) %}{{ params.X }}{% endmacro %}",
        "{% macro params() %}{% endmacro %}{{ params.X }}",
        "{% import 'm' as params %}{{ params.X }}",
        "{% from 'm' import f as params %}{{ params.X }}",
        "{% set p = params %}{{ p.X }}",
    ],
)
def test_analysis_names_only_what_is_certain(source: str) -> None:
    with TemplateEngine({"t": source, "m": "{% macro f() %}{% endmacro %}"}) as engine:
        assert engine.analyse("t").params == ()


def test_analysis_follows_constant_inclusions() -> None:
    templates = {
        "t": "\n{% include 'a' %}{% import 'b' as b %}{% include 'none' ignore missing %}{% include x %}",
        "a": "\n\n\n{{ params.A }}{% include 't' %}",
        "b": "{% extends 'c' %}",
        "c": "{{ params.C }}",
    }
    with TemplateEngine(templates) as engine:
        found = engine.analyse("t")
    assert found.params == (("A", 2), ("C", 2))
    assert set(found.includes) == {"a", "b", "c", "t"}
    assert found.problem is None


@pytest.mark.parametrize(
    ("templates", "message", "line", "name"),
    [
        ({"t": "\n{% include 'none' %}"}, "there is no template 'none'", 2, "t"),
        ({"t": "\n{% include 'a' %}", "a": "{% extends 'none' %}"}, "there is no template 'none'", 1, "a"),
        (
            {"t": "{% include 'a' %}", "a": "\n{{ x"},
            "unexpected end of template, expected 'end of print ",
            2,
            "a",
        ),
        ({"t": "{{ x | nosuch }}"}, "No filter named 'nosuch'", 1, "t"),
        ({"t": "{{ x is nosuch }}"}, "No test named 'nosuch'", 1, "t"),
        ({}, "there is no template 't'", 1, "t"),
    ],
)
def test_analysis_finds_the_first_problem(
    templates: dict[str, str], message: str, line: int, name: str
) -> None:
    with TemplateEngine(templates) as engine:
        found = engine.analyse("t").problem
    assert found is not None
    assert found.message.startswith(message)
    assert (found.line, found.name) == (line, name)


# Hostile templates

HOSTILE = {
    "nested loops": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "a huge range": "{% for i in range(10 ** 12) %}{% endfor %}",
    "a huge number": "{{ 10 ** (10 ** 9) }}",
    "a huge text": "{{ 'x' * 10 ** 10 }}",
    "a huge field": "{{ '%1000000000d' | format(1) }}",
    "a list that doubles": (
        "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}{% endfor %}"
    ),
    "much output": "{% for i in range(99999) %}{{ 'x' * 1000 }}{% endfor %}",
    "much output at once": "{{ 'x' * 5000000 }}",
    "update": "{{ params.update({'HOST': 'x'}) }}",
    "append": "{{ features.append('x') }}",
    "append as an item": "{{ features['append']('x') }}",
    "append as an attribute": "{{ (features | attr('append'))('x') }}",
    "assignment": "{% set params.HOST = 'x' %}",
    "classes": "{{ ''.__class__.__mro__ }}",
    "subclasses": "{{ ().__class__.__bases__[0].__subclasses__() }}",
    "globals": "{{ cycler.__init__.__globals__ }}",
    "functions of ours": "{{ range._call.__globals__ }}",
    "self": "{{ self }}",
    "the context": "{{ self._TemplateReference__context }}",
    "format": '{{ "{0.__class__}".format(params) }}',
    "format_map": '{{ "{x.__class__}".format_map({"x": 1}) }}',
    "format uncalled": "{{ ['{0.__class__}'] | map(attribute='format') | first }}",
    "attr": "{{ '' | attr('__class__') }}",
    "attr in parts": "{{ () | attr('__cl' ~ 'ass__') }}",
    "map of an attribute": "{{ [''] | map(attribute='__class__') | list }}",
    "endless macro": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "includes itself": "{% include 'includes itself' %}",
    "extends itself": "{% extends 'extends itself' %}",
    "imports itself": "{% import 'imports itself' as x %}",
    "brackets": "{{ " + "(" * 100_000 + "1" + ")" * 100_000 + " }}",
    "open brackets": "{{ " + "[" * 100_000 + " }}",
    "moderate brackets": "{{ " + "[" * 95 + "]" * 95 + " }}",
    "blocks": "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "a long sum": "{{ 1" + " + 1" * 20_000 + " }}",
    "a mebibyte of expressions": "{{ params.HOST }}" * (1 << 16),
    "a mebibyte of openings": "{{" * (1 << 19),
    "a mebibyte of ifs": "{% if x %}\n" * 100_000,
    "a file": '{% include "../../etc/passwd" %}',
    "an absolute file": '{% set x = "/etc/passwd" %}{% include x %}',
    "chance": "{{ [1, 2] | random }}",
    "lipsum": "{{ lipsum() }}",
    "half a character": '{{ "\\ud800" }}',
    "half a name": '{{ params["\\ud800"] }}',
    "a macro": "{% macro m() %}{% endmacro %}{{ m }}",
    "a method": "{{ ''.upper }}",
    "a generator": "{{ params.items() }}",
    "the text of a method": "{{ ''.upper | string }}",
    "a part of an address": "{{ ((''.join ~ '')[30:]) }}",
    "the text of a function": "{{ range | string }}",
    "the text of a block": "{% block b %}{% endblock %}{{ self.b | string }}",
    "the text of a cycler": "{{ cycler(1) | string }}",
    "the text of a joiner": "{{ joiner() | string }}",
    "a method in a list": "{{ [[1].index] | join }}",
    "a method in a map": "{{ {'a': ''.join} | string }}",
    "a method in a format": "{{ '%s' % ''.join }}",
    "a written address": "<function f at 0x{{ '7f' }}0011223344>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_template_is_a_problem_and_the_next_one_renders(hostile: TemplateEngine, name: str) -> None:
    with pytest.raises(TemplateProblem) as raised:
        hostile.render(name, CONTEXT)
    assert raised.value.name == name
    assert " at 0x" not in raised.value.message
    assert len(raised.value.message) < 400
    assert hostile.render("good", CONTEXT) == "h1\n"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_template_can_be_analysed(hostile: TemplateEngine, name: str) -> None:
    hostile.analyse(name)
    assert hostile.analyse("good").params == (("HOST", 1),)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nested loops", "the template took longer than 0.5 s of processor time"),
        ("a huge text", "the template used more than 512 MiB of memory"),
        ("much output", "the output is larger than 4 MiB"),
        ("endless macro", "recursion or nesting is too deep"),
        ("brackets", "recursion or nesting is too deep"),
        ("append", "access to attribute 'append' of 'list' object is unsafe"),
        ("a method", "a method cannot be written"),
    ],
)
def test_hostile_templates_are_told_why(hostile: TemplateEngine, name: str, message: str) -> None:
    with pytest.raises(TemplateProblem) as raised:
        hostile.render(name, CONTEXT)
    assert raised.value.message == message


def test_a_mebibyte_of_text_is_no_problem() -> None:
    assert len(render("x" * (1 << 20))) == 1 << 20
