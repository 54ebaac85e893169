"""What a file entry holds, as a schema: one content, and the repository's templates and files as choices."""

from gitcfg.editor.base import Schema, load_schema, ref
from gitcfg.editor.choices import one_of
from gitcfg.render.formats import formats

_CONTENTS = ("format", "template", "text", "source")


def file_schema() -> Schema:
    """The definition of a file entry."""
    file: Schema = load_schema("feature")["definitions"]["file"]
    properties = file["properties"]
    for key in ("template", "source"):
        properties[key] = {"description": properties[key]["description"], **ref(key)}
    properties["format"] = {"description": properties["format"]["description"], **one_of(formats())}
    properties["mode"]["pattern"] = "^0?[0-7]{3}$"
    properties["params"]["items"] = ref("selected")
    properties["params"]["properties"]["tags"]["items"] = ref("tag")
    contents = {"oneOf": [{"required": [key]} for key in _CONTENTS]}
    taken = {"if": {"required": ["format"]}, "then": {"required": ["params"]}}
    return {**file, "if": {"type": "object"}, "then": {"allOf": [contents, taken]}}
