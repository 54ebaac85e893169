#!/usr/bin/env bash
# A story in a minute: create a pool, look at it, change it, retire a machine, and see a mistake refused.
# The pool is kept: its folder is the argument, or a new temporary folder.
set -euo pipefail

pool=${1:-$(mktemp -d)/pool}
export GIT_AUTHOR_NAME=demo GIT_AUTHOR_EMAIL=demo@example.org GIT_COMMITTER_NAME=demo GIT_COMMITTER_EMAIL=demo@example.org
export GIT_CONFIG_GLOBAL=/dev/null
export GITCFG_PAGER=cat

bold='' green='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  export FORCE_COLOR=1
  bold=$'\033[1m' green=$'\033[32m' plain=$'\033[0m'
fi
say() { printf '\n%s# %s%s\n' "$bold" "$*" "$plain"; }
run() {
  printf '%s$' "$green"
  for word; do case $word in *[' {}$']*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac; done
  printf '%s\n' "$plain"
  "$@" || true
}

say 'A small HTCondor pool: 36 machines, described in a git repository.'
run gitcfg init "$pool" --from htcondor
run cd "$pool"
run git log --oneline

say 'Is the configuration right, for every machine?'
run gitcfg check

say 'What does an execute node get, to the byte?'
run gitcfg render exec01.pool.example.org --file /etc/condor/config.d/50-gitcfg.config

say 'And why does it start jobs when it does?'
run gitcfg explain exec01.pool.example.org START

say 'Change a group: no jobs of eve on the workers.'
run gitcfg modify group Workers --set 'START={$and: Owner =!= "eve"}'
run git diff --unified=0 groups/Workers.yaml
run gitcfg diff --stat
run gitcfg explain exec01.pool.example.org START
run git commit --all --quiet -m 'No jobs of eve on the workers'
run git log --oneline

say 'Retire a central manager. A rule asks for two collectors; the solver chooses another machine.'
run gitcfg modify node cm2.pool.example.org --field state=retired --force
run gitcfg rules two-collectors
run gitcfg solve --dry-run
run gitcfg solve
run gitcfg explain submit2.pool.example.org --feature Collector
run gitcfg diff --stat
run git add allocations
run git commit --all --quiet -m 'Retire cm2; another machine collects'

say 'A mistake: a value that does not fit its parameter, and a feature that does not exist.'
run sed -i -e 's/^features:/features:\n  - ExecuteNodes/' -e 's/^params:/params:\n  SHARED_PORT_MAX_WORKERS: many/' groups/Workers.yaml
run git diff --unified=0 groups/Workers.yaml
run git commit --all --quiet -m 'This is wrong'
say 'The hook refused the commit, so the history is as before.'
run git log --oneline
run git checkout --quiet groups/Workers.yaml

say "The pool is in $pool. Three commands to try there:"
printf '%s\n' "cd $pool" \
  'gitcfg explain gpu01.pool.example.org START --blame   # why, and who changed it' \
  'gitcfg values DAEMON_LIST                             # which machines run what' \
  'gitcfg show feature GpuNode                           # a definition, and what uses it'
