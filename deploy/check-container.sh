#!/usr/bin/env bash
# Starts the primary like the container, without a container engine: with the user, the environment and the volume of the
# Dockerfile, the command of the compose file, and a read-only root file system. Then runs the Dockerfile's health check, and
# stops the primary like the engine. Needs Linux, root for mounts of its own, and ip (iproute2, installed by apt-get).
#
# Usage: deploy/check-container.sh [DIRECTORY]     (of the executables; default: .build/debug)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$(realpath "${1:-$here/../.build/debug}")
dockerfile=$here/Dockerfile
compose=$here/compose.yaml

fail() {
    echo "check-container: $*" >&2
    exit 1
}
[ "$(id -u)" = 0 ] || fail "run it as root"
[ -x "$bin/statecast-primary" ] || fail "there is no statecast-primary in $bin"
if ! command -v ip >/dev/null; then
    command -v apt-get >/dev/null || fail "there is no ip: install iproute2"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq iproute2 >/dev/null
fi

# From the last stage of the image.
stage=$(sed -n '/^FROM debian/,$p' "$dockerfile")
user=$(sed -n 's/^USER //p' <<<"$stage")
volume=$(sed -n 's/^VOLUME //p' <<<"$stage")
mapfile -t environment < <(sed -n 's/^ENV //p' <<<"$stage")
health=$(sed -n '/^HEALTHCHECK/,/^STOPSIGNAL/ s/.*CMD \[\(.*\)\]/\1/p' <<<"$stage" | tr -d '",')
signal=$(sed -n 's/^STOPSIGNAL //p' <<<"$stage")
# From the primary of the compose file.
service=$(sed -n '/^  primary:/,/^  agent:/p' "$compose")
command=$(sed -n '/^    command:/,/^    [a-z]*:/ s/^      - //p' <<<"$service")
for found in "$user" "$volume" "$health" "$signal" "$command"; do
    [ -n "$found" ] || fail "the Dockerfile or the compose file has another form than this script reads"
done
grep -q "volumes:.*:$volume\"" <<<"$service" || fail "the compose file keeps no volume in $volume for the primary"

export bin user volume health signal command
export variables="${environment[*]}"
# Only the volume is writable; it has the owner that the image gives it. HOME=/nowhere: the user has no home directory.
timeout 600 unshare --mount --net --pid --fork --kill-child --mount-proc bash -euc '
    ip link set lo up
    mount --make-rprivate /
    mount -t tmpfs -o mode=755 none "$(dirname "$volume")"
    install --directory --owner "${user%%:*}" --group "${user##*:}" --mode 0700 "$volume"
    line=$(dirname "$volume")/line
    mkfifo "$line"
    exec 3<>"$line"
    mount -o remount,bind,ro /
    run() {
        exec env -i PATH="$bin:/usr/bin:/bin" HOME=/nowhere $variables \
            setpriv --reuid "${user%%:*}" --regid "${user##*:}" --clear-groups --no-new-privs "$@"
    }
    (run $command) >&3 &
    primary=$!
    # Reports the end of the primary on the same channel as its ready line.
    (while kill -0 "$primary" 2>/dev/null; do sleep 0.1; done; echo "it ended" >&3) &
    read -r ready <&3
    echo "$ready"
    case $ready in ready*) ;; *) wait "$primary" ;; esac
    # The number of attempts of the engine.
    healthy() { (run $health) >/dev/null; }
    healthy || healthy || healthy
    kill -s "$signal" "$primary"
    wait "$primary"
' || fail "the primary does not start, or serve, or stop, as the container runs it"
echo "container: good"
