#!/usr/bin/env bash
# Runs the commands that start the containers, without a container engine: those at the top of compose.yaml, and those of
# docs/SECURING.md for containers with keys. A function imitates docker: it starts the services with the user and the environment
# of the Dockerfile, the command, environment and volumes of the compose files, and a read-only root file system, and runs the
# Dockerfile's health check. All services share one network. Needs Linux, root for mounts of its own, and ip (iproute2,
# installed by apt-get).
#
# Usage: deploy/check-container.sh [DIRECTORY]     (of the executables; default: .build/debug)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
    echo "check-container: $*" >&2
    exit 1
}

if [ "${1:-}" != --inside ]; then
    bin=$(realpath "${1:-$root/.build/debug}")
    [ "$(id -u)" = 0 ] || fail "run it as root"
    [ -x "$bin/statecast-primary" ] || fail "there is no statecast-primary in $bin"
    if ! command -v ip >/dev/null; then
        command -v apt-get >/dev/null || fail "there is no ip: install iproute2"
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq iproute2 >/dev/null
    fi
    # The commands without keys and those with keys have a machine each.
    for commands in plain keys; do
        timeout 600 unshare --mount --net --pid --fork --kill-child --mount-proc "$0" --inside "$bin" "$commands" \
            || fail "the containers do not start, or serve, or stop as documented ($commands)"
    done
    exit
fi

# From the last stage of the image.
stage=$(sed -n '/^FROM debian/,$p' "$root/deploy/Dockerfile")
user=$(sed -n 's/^USER //p' <<<"$stage")
volume=$(sed -n 's/^VOLUME //p' <<<"$stage")
image=$(sed -n 's/^ENV //p' <<<"$stage")
health=$(sed -n '/^HEALTHCHECK/,/^STOPSIGNAL/ s/.*CMD \[\(.*\)\]/\1/p' <<<"$stage" | tr -d '",')
signal=$(sed -n 's/^STOPSIGNAL //p' <<<"$stage")
for found in "$user" "$volume" "$image" "$health" "$signal"; do
    [ -n "$found" ] || fail "the Dockerfile has another form than this script reads"
done

for file in "$root/deploy/compose.yaml" "$root/deploy/keys/compose.yaml"; do
    repeated=$(sed -n 's/^\([a-z]*\):.*/\1/p' "$file" | sort | uniq --repeated)
    [ -z "$repeated" ] || fail "$file has a key twice: $repeated"
done

# The lines of a service in the compose files.
service() {
    awk -v name="  $1:" '/^[^ ]/ { top = $0 } /^  [a-z]+:$/ { current = $0 } top == "services:" && current == name' "${composed[@]}"
}
# The lists of a key in the lines of a service, one list a line.
lists() {
    awk -v key="$1:" '
        /^    [a-z]/ { if (list != "") print list; list = ""; isInside = $1 == key }
        isInside && (sub(/^      - /, "") || sub(/^.*\[/, "")) { gsub(/[],"]/, " "); list = list " " $0 }
        END { if (list != "") print list }'
}
# Reads the settings of a service: of several commands the last one is in effect.
settings() {
    local lines
    lines=$(service "$1")
    command=$(lists command <<<"$lines" | tail -n 1)
    mounts=$(lists volumes <<<"$lines")
    variables=$(sed -n 's/^      \([A-Z_]*\): "\{0,1\}\([^"]*\)"\{0,1\}$/\1=\2/p' <<<"$lines")
    name=$(sed -n 's/^    hostname: //p' <<<"$lines")
    [ -n "$command" ] || fail "the compose files have another form than this script reads"
}
# Becomes a container with the mounts, variables and name that were read.
enter() {
    local source target mode
    [ -z "$name" ] || echo "$name" >/proc/sys/kernel/hostname
    for mount in $mounts; do
        IFS=: read -r source target mode <<<"$mount"
        case $source in /*) ;; *) source=$volumes/$source ;; esac
        mount --bind "$source" "$target"
        [ "$mode" != ro ] || mount -o remount,bind,ro "$target"
    done
    mount -o remount,bind,ro /
    # HOME=/nowhere: the user has no home directory.
    exec env -i PATH="$bin:/usr/bin:/bin" HOME=/nowhere $image $variables \
        setpriv --reuid "${user%%:*}" --regid "${user##*:}" --clear-groups --no-new-privs "$@"
}
contain() { exec unshare --mount --uts bash -euc 'enter "$@"' enter "$@"; }
export -f enter

start() {
    settings "$1"
    (contain $command) &
    started+=($!)
}

up() {
    started=()
    start primary
    # An attempt takes up to 4 seconds; the machine may be busy.
    for attempt in {1..30}; do
        if (contain $health) >/dev/null; then
            start agent
            return
        fi
        kill -0 "${started[0]}" 2>/dev/null || break
    done
    return 1
}

# Runs a command in a container of the board. The board itself ends when it has shown the agent.
run() {
    settings board
    if [ $# -gt 0 ]; then (contain "$@"); else (contain $command) | grep --quiet '"agent-1"'; fi
}

docker() {
    local verb=$1
    shift
    composed=() mounts= variables= name=
    while [ "${1:0:2}" = -- ]; do
        case $1 in
            --file) composed+=("$root/$2") && shift 2 ;;
            --tag) shift 2 ;;
            --volume) mounts+=" $2" && shift 2 ;;
            *) shift ;;
        esac
    done
    case "$verb $1" in
        "build .") ;;
        "run statecast") (contain "${@:2}") ;;
        "compose up") up || fail "the primary is not healthy" ;;
        "compose run") run "${@:4}" ;;
        *) fail "docker $verb $1 is not imitated" ;;
    esac
}

stop() {
    kill -s "$signal" "${started[@]}"
    for process in "${started[@]}"; do wait "$process" || fail "a service ended with $?"; done
}

bin=$2
# Another address than the one of this machine: the others reach only what is bound beyond 127.0.0.1.
ip link set lo up
ip address add 10.213.0.1/32 dev lo
mount --make-rprivate /
# Nothing on this machine changes: /etc is a copy, and a new volume gets the owner that the image gives its directory.
mount -t tmpfs -o mode=755 none "$(dirname "$volume")"
mount -t tmpfs -o mode=755 none /run
cp -a /etc /run/etc
mount --bind /run/etc /etc
echo 10.213.0.1 primary >>/etc/hosts
volumes=/run/volumes
mkdir -p "$volume" /run/secrets "$volumes"
install --directory --owner "${user%%:*}" --group "${user##*:}" --mode 0700 "$volumes/journals"
export bin user image volumes mounts variables name

case $3 in
    plain) commands=$(sed -n 's/^#     //p' "$root/deploy/compose.yaml") ;;
    keys) commands=$(sed -n '/^### Containers/,/^## / { /^```sh/,/^```$/ { /^```/!p } }' "$root/docs/SECURING.md") ;;
esac
[ -n "$commands" ] || fail "there are no commands to run ($3)"
cd "$root"
eval "$commands"
stop
if [ "$3" = keys ]; then
    # Wrong usage: its group can read the key.
    chmod 0440 "$files/primary/node.key"
    if up; then fail "the primary uses a key file that others can read"; fi
    wait "${started[0]}" && code=0 || code=$?
    [ "$code" = 64 ] || fail "a primary whose key file others can read ended with $code, expected 64"
fi
echo "containers: good ($3)"
