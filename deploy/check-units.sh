#!/usr/bin/env bash
# Checks the systemd units by systemd-analyze, without installing them: in a temporary root with the programs that the units
# start (empty files, because verify only checks that they are executable) and their config files.
#
# Usage: deploy/check-units.sh [UNIT...]     (default: all units beside this script)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
units=("$@")
if [ ${#units[@]} -eq 0 ]; then units=("$here"/*.service); fi

command -v systemd-analyze > /dev/null || { echo "check-units: systemd-analyze is not installed" >&2; exit 1; }

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{etc/statecast,etc/systemd/system,bin,usr/local/bin,run,tmp}
# The standard targets that the units are ordered by.
for folder in /usr/lib/systemd/system /lib/systemd/system; do
    if [ -d "$folder" ]; then
        mkdir -p "$root/usr/lib/systemd"
        cp -R "$folder" "$root/usr/lib/systemd/system"
        break
    fi
done
for program in /bin/sh /usr/local/bin/{statecast-primary,statecast-replica,statecast-send,statecast-gateway,fleet-agent}; do
    printf '#!/bin/sh\n' > "$root$program"
    chmod +x "$root$program"
done
cp "$here"/../config/*.json "$root/etc/statecast/"

failed=0
# Verifies an installed unit. Some errors, such as an unknown key, leave the exit code at 0: any output about it counts.
verify() {
    local output code
    output=$(systemd-analyze verify --root="$root" --man=no "$1" 2>&1) && code=0 || code=$?
    if [ "$code" -ne 0 ] || grep -qF "$1" <<< "$output"; then
        printf '%s: exit code %s\n%s\n' "$2" "$code" "$output" >&2
        failed=1
    else
        echo "$2: good"
    fi
}

for unit in "${units[@]}"; do
    name=$(basename "$unit")
    cp "$unit" "$root/etc/systemd/system/$name"
    verify "$name" "$name"
    keys=$here/keys/${name%.service}.conf
    if [ -f "$keys" ]; then
        mkdir -p "$root/etc/systemd/system/$name.d"
        cp "$keys" "$root/etc/systemd/system/$name.d/keys.conf"
        verify "$name" "$name with keys"
    fi
    # systemd's default limit is five starts in ten seconds; RestartSec=1 exceeds it, and the unit stays down.
    if grep -q '^Restart=' "$unit" && ! grep -q '^StartLimitIntervalSec=0$' "$unit"; then
        echo "$name: restarts, and says no StartLimitIntervalSec=0: systemd gives up after five starts" >&2
        failed=1
    fi
    # A restart cannot help after wrong usage or, for a unit with a journal, after a damaged or unfit one.
    codes=64
    if grep -q '^StateDirectory=statecast$' "$unit"; then codes="64 65 78"; fi
    if ! grep -q "^RestartPreventExitStatus=$codes\$" "$unit"; then
        echo "$name: expected RestartPreventExitStatus=$codes" >&2
        failed=1
    fi
    for config in $(grep -o '/etc/statecast/[^ ]*' "$unit"); do
        if [ ! -f "$root$config" ]; then
            echo "$name: there is no config/$(basename "$config")" >&2
            failed=1
        fi
    done
done
exit "$failed"
