"""Mistakes in single files: 1xx."""

from collections.abc import Mapping

from gitcfg.generate.mistakes.planter import Files, Planter, feature


def not_yaml() -> Files:
    """A list that is not closed."""
    return {"features/mistake-101.yaml": "description: Planted.\ndepends: [\n"}


def unknown_key() -> Files:
    """A key that features have not."""
    return feature("mistake-102", paramters={"A": "1"})


def same_name_twice() -> Files:
    """Folders only sort files: the same name in two of them is one name."""
    text = "description: Planted.\n"
    return {"features/mistake-103.yaml": text, "features/elsewhere/mistake-103.yaml": text}


def format_of_tomorrow() -> Files:
    """A format that no program reads yet."""
    return {"gitcfg.yaml": "format: 1000000\n"}


def not_supported() -> Files:
    """Something for a node's packages and services, which comes later."""
    return feature("mistake-105", resources=[{"package": "ntp"}])


def nothing_after_the_colon() -> Files:
    """A description that was not written."""
    return {"features/mistake-106.yaml": "description:\nparams: {}\n"}


FILES: Mapping[str, Planter] = {
    "GC101": not_yaml,
    "GC102": unknown_key,
    "GC103": same_name_twice,
    "GC104": format_of_tomorrow,
    "GC105": not_supported,
    "GC106": nothing_after_the_colon,
}
