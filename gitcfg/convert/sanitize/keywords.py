"""Keywords of the format, CEL, Jinja and JSON Schema: the words that a sanitizer keeps, and where."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from gitcfg.bundled import schema

_SCHEMAS = (
    *("allocation", "feature", "gitcfg", "group", "hold", "node", "nodeset", "override", "parameters"),
    *("rules", "secret", "subsystems"),
)


def _split_words(words: str) -> frozenset[str]:
    return frozenset(words.split())


EVERYWHERE = _split_words(
    "true false null inf nan undefined error warning default if elif else endif include use"
    " is isnt proc sys dev gitcfg yaml yml txt allowed signers"
    " etc var lib run usr local bin opt systemd system agent once service timer d systemctl pkill killall"
    " kill stop restart try condrestart force mask disable freeze no block hup sighup"
)
"""Words with a meaning in names and values too: literals, HTCondor's and gitcfg's own, folders, extensions,
and what stops the agent (GC209, GC213)."""

CHOICES = _split_words(
    "string integer number boolean list map expression path condor env ini json yaml toml error warning allow"
    " tip each off require comma blank-or-comma active retired old new ok"
)
"""The values of settings that only take some words."""

COLLECTED = _split_words("name value")
"""What `$collect` takes instead of a parameter, and sorts by."""

SCHEMA = _split_words(
    "$schema $id $ref $defs $comment title description type properties patternProperties required enum const"
    " default examples items prefixItems contains minContains maxContains additionalProperties"
    " additionalItems propertyNames minProperties maxProperties minItems maxItems uniqueItems minLength"
    " maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf allOf anyOf oneOf"
    " not if then else dependentRequired dependentSchemas definitions unevaluatedProperties"
    " unevaluatedItems"
)
SCHEMA_CHOICES = _split_words(
    "string integer number boolean array object null date date-time time duration email hostname ipv4 ipv6"
    " uri uri-reference regex uuid json-pointer"
)
CEL = _split_words(
    "node nodes other self fleet as with feature name groups features labels facts params in type null true"
    " false e E"
)
CALLED = _split_words(
    "has size all exists exists_one map filter matches startsWith endsWith contains int uint double string"
    " bool bytes list timestamp duration dyn type age in_net net_of is_address lowerAscii upperAscii trim"
    " replace substring split charAt indexOf lastIndexOf join reverse quote format intersects equivalent"
    " greatest least abs ceil floor round sign trunc distinct sort sortBy slice flatten range first last"
)
"""The functions of CEL and gitcfg: only before a bracket."""
PREFIXES = _split_words("sets math lists strings")
"""The prefixes of some functions, with a dot."""
JINJA = _split_words(
    "node name groups features labels facts params address state if elif else endif for endfor in not and or"
    " is set endset include import from as with without context block endblock extends macro endmacro call"
    " endcall filter endfilter raw endraw do ignore missing recursive loop index index0 first last length"
    " true false none True False None defined undefined none string number mapping sequence iterable abs"
    " attr batch capitalize count default dictsort escape e float format groupby indent int items join"
    " list lower map max min reject rejectattr replace reverse round select selectattr slice sort sum title"
    " tojson trim truncate unique upper wordcount wordwrap odd even range dict namespace cycler joiner"
    " keys values get split startswith endswith strip"
)


@cache
def keys() -> frozenset[str]:
    """Return the keys of documents, from the schemas."""
    found = {word for name in _SCHEMAS for word in _properties(json.loads(schema(name)))}
    return frozenset(found | {"resources", "allocations", "holds"})


def _properties(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from part.get("properties") or ()
        for inner in part.values():
            yield from _properties(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _properties(inner)
