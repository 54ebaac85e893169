#!/bin/sh
# daemon.sh VERB FOLDER CONFIG PYTHON: what a service manager does for daemon.py.
# As long as CONFIG has a word of FOLDER/stuck, it can be neither restarted nor reloaded, and runs on.
verb=$1 folder=$2 config=$3 python=$4
here=$(dirname "$0")
echo "$verb" >> "$folder/log"
# A process that nobody has waited for yet does not run any more.
alive() {
    [ -s "$folder/pid" ] || return 1
    read -r pid < "$folder/pid"
    [ -r "/proc/$pid/stat" ] && read -r _ _ state _ < "/proc/$pid/stat" && [ "$state" != Z ]
}
answer() {
    tries=0
    while [ ! -e "$folder/reply" ]; do
        tries=$((tries + 1))
        if [ -n "$1" ] && ! alive; then sleep 0.02; [ -e "$folder/reply" ] || { echo "the daemon died"; exit 3; }; fi
        [ $tries -gt 1000 ] && { echo "no answer"; exit 4; }
        sleep 0.005
    done
    cat "$folder/reply"
    [ ! -s "$folder/reply" ]
}
stuck() {
    [ -e "$folder/stuck" ] && grep -q -f "$folder/stuck" "$config" && { echo "it is stuck"; exit 5; }
}
end() {
    if alive; then
        kill -TERM "$pid"
        while alive; do sleep 0.005; done
    fi
    rm -f "$folder/pid" "$folder/loaded"
}
case $verb in
    validate) if grep -q refused "$config"; then echo "$config is refused"; exit 1; fi ;;
    reload)
        stuck
        alive || { echo "the daemon does not run"; exit 2; }
        rm -f "$folder/reply"
        kill -HUP "$pid"
        answer alive || exit 1
        ;;
    restart)
        stuck
        end
        rm -f "$folder/reply"
        setsid "$python" -S -E "$here/daemon.py" "$folder" "$config" < /dev/null > /dev/null 2>&1 &
        answer "" || exit 1
        while [ ! -s "$folder/pid" ]; do sleep 0.005; done
        ;;
    stop)
        [ -e "$folder/stuck" ] && { echo "it is stuck"; exit 5; }
        end
        ;;
    check)
        alive || { echo "the daemon does not run"; exit 2; }
        cmp -s "$config" "$folder/loaded" || { echo "the daemon runs with something else"; exit 1; }
        if grep -q sick "$config"; then echo "the daemon is sick"; exit 1; fi
        ;;
esac
exit 0
