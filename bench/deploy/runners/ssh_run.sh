#!/bin/sh
# A process for each host: ssh_run.sh SETTINGS JOBS TEXT < lines of "HOST PATH"
settings=$1 jobs=$2 text=$3
export settings text
exec xargs -P "$jobs" -n 2 sh -c 'exec ssh -F "$settings" "$0" "cat > $1 && /bin/true" < "$text"'
