"""A scalar of a text parameter is its source text, whichever way it comes."""

import pytest

from tests.properties.laws import compiled, rendering_is_naive

TEXTS = ("017", "1.10", "TRUE", "0x1F", "1e3", "~a", "2027-01-15")
TYPES = ("string", "expression", "path")
WAYS = {
    "set": "params: {P: TEXT}\n",
    "default": "params: {P: {$default: TEXT}}\n",
    "null": "params: {P: null}\n",
    "fact": "params: {P: {$fact: f}}\nfacts: {f: TEXT}\n",
    "attribute": "features: [{feature: F, as: x, with: {v: TEXT}}]\n",
}


def files(way: str, kind: str, text: str) -> dict[str, str]:
    return {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": f"parameters: {{P: {{type: {kind}, default: {text}}}}}\n",
        "features/F.yaml": 'params: {P: "${with.v}"}\n',
        "nodes/n1.yaml": WAYS[way].replace("TEXT", text),
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("text", TEXTS)
def test_scalar_keeps_its_source_text(way: str, kind: str, text: str) -> None:
    repository = files(way, kind, text)
    rendering_is_naive(repository)
    assert compiled(repository)["n1"].params["P"] == text
