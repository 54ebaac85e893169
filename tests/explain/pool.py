"""A small pool in which most of what can be asked about is to be found."""

from datetime import date

import gitcfg
from gitcfg.library import Fleet

POOL = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/condor.yaml": """\
parameters:
  START: {description: When jobs may start., type: expression, default: "TRUE"}
  DAEMON_LIST: {description: The daemons that run., type: list, separator: comma, restart: true, unique: true}
  NUM_CPUS: {description: How many cores there are., type: integer, depends: [DAEMON_LIST]}
  CONDOR_HOST: {description: The central manager., type: string, must_change: true}
  RACK: {description: Where it stands., type: string}
  "SLOT_TYPE_*": {description: A type of slot., type: string}
""",
    "subsystems/s.yaml": """\
subsystems:
  master: {description: Starts the rest., params: [DAEMON_LIST], covers: [startd]}
  startd: {description: Runs jobs., params: ["START", "SLOT_*"], features: [Execute], restart: [a, b]}
""",
    "features/Base.yaml": """\
description: What every machine has.
params:
  DAEMON_LIST: [MASTER]
  RACK: {$fact: rack}
files:
  /etc/condor: {format: condor, params: ["*"]}
  /etc/motd: {template: motd.j2}
""",
    "features/Slot.yaml": """\
description: A slot.
params:
  "SLOT_TYPE_${as}": "${with.share}"
""",
    "features/Execute.yaml": """\
description: Runs jobs.
include: [Base, {feature: Slot, as: "[1-2]", with: {share: 50%}}]
params:
  START: null
  RACK: {$default: none}
  DAEMON_LIST: {$append: STARTD}
""",
    "features/Gpu.yaml": """\
description: Has a GPU.
include: [Execute]
params:
  START: {$and: TARGET.RequestGPUs >= 1}
files:
  /etc/motd: {text: "GPU\\n", mode: "0600"}
""",
    "features/Idle.yaml": "description: On no machine.\nparams: {NUM_CPUS: 1}\n",
    "groups/default.yaml": "description: All.\nfeatures: [Base]\nparams: {CONDOR_HOST: cm.example.org}\n",
    "groups/exec.yaml": "description: Runs jobs.\nfeatures: [Execute]\nparams: {NUM_CPUS: 4}\n",
    "groups/gpu.yaml": "description: Has GPUs.\nfeatures: [Gpu]\n",
    "nodesets/exec.yaml": "nodes: exec[1-4]\ngroups: [exec]\nfacts: {rack: A1}\n",
    "nodes/exec2.yaml": "groups: {$prepend: [gpu]}\nparams: {NUM_CPUS: 8}\n",
    "nodes/exec3.yaml": "without: [Execute]\nfacts: {rack: null}\n",
    "nodes/exec4.yaml": "groups: [gpu]\nwithout: [Gpu]\n",
    "nodes/old.yaml": "groups: [exec]\nstate: retired\n",
    "nodes/cm.yaml": "features: [{feature: Slot, as: x, with: {share: 1%}}]\nfiles: {/etc/motd: null}\n",
    "overrides/bad.yaml": """\
nodes: exec1
reason: bad DIMM, ticket 4711
until: 2026-06-01
params: {START: "FALSE"}
features: [Gpu]
""",
    "templates/motd.j2": "This is {{ node.name }} of {{ params.CONDOR_HOST }}.\n",
}


def pool(**changed: str) -> Fleet:
    """The pool, or one in which some files are others (`__` in a name stands for `/`)."""
    files = {name.replace("__", "/") + ".yaml": text for name, text in changed.items()}
    return gitcfg.in_memory({**POOL, **files}, date(2026, 1, 1))
