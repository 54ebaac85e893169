#!/usr/bin/env bash
# A story in a minute: a pool is made, looked at, changed, a machine replaced, and a mistake is refused.
set -euo pipefail

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export GIT_AUTHOR_NAME=demo GIT_AUTHOR_EMAIL=demo@example.org GIT_COMMITTER_NAME=demo GIT_COMMITTER_EMAIL=demo@example.org
export GIT_CONFIG_GLOBAL=/dev/null
export GITCFG_PAGER=cat
[ -t 1 ] && export FORCE_COLOR=1

say() { printf '\n\033[1m# %s\033[0m\n' "$*"; }
run() {
  printf '\033[32m$'
  for word; do case $word in *' '*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac; done
  printf '\033[0m\n'
  "$@" || true
}

cd "$place"
say 'An HTCondor pool of our own, from the sample: 36 nodes in a git repository.'
run gitcfg init pool --from htcondor
cd pool
run git log --oneline

say 'Is it right, for every node?'
run gitcfg check

say 'What does an execute node get, exactly?'
run gitcfg render exec01.pool.example.org --file /etc/condor/config.d/50-gitcfg.config

say 'And why does it start jobs when it does?'
run gitcfg explain exec01.pool.example.org START

say 'A change to a group: no jobs of eve on the workers.'
sed -i 's/^params:/params:\n  START: {$and: Owner =!= "eve"}/' groups/Workers.yaml
run git diff --unified=0 groups/Workers.yaml
run gitcfg check
run gitcfg explain exec01.pool.example.org START
run git commit --all --quiet -m 'No jobs of eve on the workers'
run git log --oneline

say 'A manager is taken away. What the pool needs, and who takes over, is a matter of rules.'
echo 'state: retired' >> nodes/cm2.pool.example.org.yaml
run gitcfg rules two-collectors
run gitcfg check
run gitcfg solve --dry-run
run gitcfg solve
run gitcfg explain submit2.pool.example.org --feature Collector
run gitcfg diff --stat
run git add allocations
run git commit --all --quiet -m 'cm2 retires, and another collector takes over'

say 'A mistake: a value that its parameter cannot have, and a feature that nobody wrote.'
sed -i 's/^features:/features:\n  - ExecuteNodes/' groups/Workers.yaml
sed -i 's/^params:/params:\n  SHARED_PORT_MAX_WORKERS: many/' groups/Workers.yaml
run git commit --all --quiet -m 'This will not do'
say 'The hook refused the commit: nothing of it is in the history.'
run git log --oneline
