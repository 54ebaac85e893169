"""A package as JSON, which `reading` reads back."""

from __future__ import annotations

from typing import Any

from .concealed import hidden_to_json
from .package import SCHEMA, File, Package, Subsystem


def package_to_json(package: Package) -> dict[str, Any]:
    """As gitcfg.node/1."""
    return {
        "schema": SCHEMA,
        "node": package.node,
        "commit": package.commit,
        "digest": package.digest,
        "state": package.state,
        "features": list(package.features),
        "groups": list(package.groups),
        "params": dict(package.params),
        "files": {path: _file_to_json(file) for path, file in package.files.items()},
        "subsystems": {name: _subsystem_to_json(found) for name, found in package.subsystems.items()},
    }


def _file_to_json(file: File) -> dict[str, Any]:
    import base64

    try:
        content = {"content": file.content.decode()}
    except UnicodeDecodeError:
        content = {"base64": base64.b64encode(file.content).decode()}
    return {
        **content,
        "mode": file.mode,
        "owner": file.owner,
        "group": file.group,
        "digest": file.digest,
        "concerns": dict(file.concerns),
        **(hidden_to_json(file.hidden) if file.hidden is not None else {}),
    }


def _subsystem_to_json(found: Subsystem) -> dict[str, Any]:
    check = found.check
    return {
        "validate": list(found.validate) or None,
        "reload": list(found.reload) or None,
        "restart": list(found.restart) or None,
        "stop": list(found.stop) or None,
        "check": check and {"run": list(check.run), "timeout": check.timeout, "retries": check.retries},
        "using": found.using,
        "covers": list(found.covers),
    }
