"""What plants a mistake, and the files that many mistakes are made of."""

from collections.abc import Callable
from random import Random

from gitcfg.generate.emit import to_yaml
from gitcfg.generate.values import draw_facts

Files = dict[str, str]
Planter = Callable[[], Files]


def feature(name: str, **said: object) -> Files:
    """A feature's file."""
    return {f"features/{name}.yaml": to_yaml({"description": "Planted.", **said})}


def parameters(code: str, **declared: dict[str, object]) -> Files:
    """Declarations of parameters, which the code's mistake alone uses."""
    described = {name: {"description": "Planted.", **said} for name, said in declared.items()}
    return {f"parameters/mistake-{code}.yaml": to_yaml({"parameters": described})}


def node(code: str, **said: object) -> Files:
    """A node for the mistake, with the facts that every generated node has."""
    return {f"nodes/mistake-{code}.example.com.yaml": to_yaml({**said, "facts": draw_facts(Random(code))})}
