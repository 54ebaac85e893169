"""Texts in pictures: ids that cannot be mistaken, and sets of nodes that are short but not wrong."""

from gitcfg.model import Origin, Use
from gitcfg.model.text import safe
from gitcfg.pictures.picture import ident, instances, short_set


def test_ids_of_legal_names_are_readable_and_others_quoted() -> None:
    assert ident("feature", "GPU workers") == "feature GPU workers"
    assert ident("feature", "a > b") == 'feature "a > b"'
    assert ident("feature", "é\n") == 'feature "\\u00e9\\n"'


def test_sets_are_cut_after_a_comma() -> None:
    assert short_set("exec[001-900]", 20) == "exec[001-900]"
    assert short_set("exec[001-009,011-019,021]", 20) == "exec[001-009,…"
    assert short_set("a-very-long-name-of-a-node", 20) == "a-very-long-name-of…"


def test_instances_are_folded_only_if_that_says_the_same() -> None:
    def named(*names: str) -> str:
        return instances([Use("F", Origin("f"), name) for name in names])

    assert named("S_1", "S_2", "S_3") == "as S_[1-3]"
    assert named("1", "01") == "as [1,01]"
    assert named("${as}-[1-2]") == "as ${as}-[1-2]"
    assert named("a b", "c") == "as a b, c"
    assert instances([Use("F", Origin("f"))]) == ""


def test_signs_that_are_no_letters_are_written_out() -> None:
    assert safe("a\tb\x00\u202ec\ud800") == "a\\tb\\x00\\u202ec\\ud800"
    assert safe("é ☃ 日本") == "é ☃ 日本"
