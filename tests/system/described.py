"""What the repository says: four workers, what they may be told, and the daemon that is told it."""

from tests.system.node import CONFIG

STAGED = "format: 1\nrelease: {stages: [1, 50%, 100%], settle: 100ms, max_failures: 0}\n"
SIZES = (1, 2, 4)
NAMES = ("exec1", "exec2", "exec3", "exec4")
PARAMS = {"LABEL": "zero", "MAX_JOBS": "10", "MEMORY": "1024", "ROLE": "'FEATURE : GPUs'"}
FILES = {
    "gitcfg.yaml": STAGED,
    "parameters/all.yaml": """parameters:
  LABEL: {description: What these values are called., type: string}
  MAX_JOBS: {description: How many jobs at most., type: string}
  MEMORY: {description: How much memory., type: integer, restart: true}
  ROLE: {description: What HTCondor itself knows how to set up., type: string}
""",
    "subsystems/poold.yaml": f"""subsystems:
  poold:
    params: [LABEL, MAX_JOBS, MEMORY]
    files: ["{CONFIG}/**"]
    features: [Pool]
    validate: [condor_judge, "{{new}}"]
    reload: [poold, reload]
    restart: [poold, restart]
    stop: [poold, stop]
    check: {{run: [poold, check], timeout: 20s, retries: 1}}
""",
    "features/Pool.yaml": f"""files:
  {CONFIG}/50-params.config: {{format: condor, params: [LABEL, MAX_JOBS, MEMORY]}}
  {CONFIG}/60-role.config: {{template: role.j2}}
""",
    "templates/role.j2": "use {{ params.ROLE }}\nTWIN = {{ params.LABEL }}\n",
}
