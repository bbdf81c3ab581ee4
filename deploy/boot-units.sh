#!/usr/bin/env bash
# Boots a container in which systemd starts the units, first without keys and then with them, and checks that the values of
# the agent arrive at a replica, that the gateway has a state and a history, that nothing was restarted, and that a reload and a
# stop work. systemd-analyze does not notice that a unit forbids a call that a program or a library makes.
#
# Usage: deploy/boot-units.sh PROGRAMS     (the folder of the executable; on Linux, as root, with systemd-nspawn)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
programs=$(cd "$1" && pwd)
[ "$(id -u)" = 0 ] || { echo "boot-units: run it as root" >&2; exit 1; }
command -v systemd-nspawn >/dev/null || { echo "boot-units: systemd-nspawn is not installed" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work"/{bin,system/multi-user.target.wants,keys,etc}
# As they are installed.
cp "$programs/statecast" "$work/bin/"
for name in statecast-primary statecast-replica statecast-keys statecast-gateway fleet-agent; do ln -s statecast "$work/bin/$name"; done
cp "$here"/*.service "$work/system/"
cp "$here"/keys/*.conf "$work/keys/"
cp "$here"/../config/*.json "$work/etc/"

# Runs in the container, as a unit without the restrictions of the units under test.
cat >"$work/bin/check" <<'CHECK'
#!/usr/bin/env bash
set -euo pipefail
units=(statecast-primary fleet-agent statecast-gateway)
is_good=
trap '[ "$is_good" ] || journalctl --no-pager --lines=40 --unit=statecast-primary --unit=fleet-agent --unit=statecast-gateway' EXIT
trap 'exit 1' TERM
cd /etc/statecast
# The units are up, and have not been started again.
running() {
    local unit
    for unit in "${units[@]}"; do
        systemctl is-active --quiet "$unit"
        [ "$(systemctl show --property=NRestarts --value "$unit")" = 0 ]
    done
}
# check ARGUMENT... starts the units, and waits until a replica with these arguments shows a host.
check() {
    local line='' lines process unit
    systemctl start "${units[@]}"
    exec {lines}< <(exec statecast-replica --from tcp://127.0.0.1:7100 --json "$@")
    process=$!
    while [[ $line != *'"memoryTotalBytes"'* ]]; do
        # Beyond 128: nothing arrived yet.
        read -r -t 1 line <&"$lines" || [ $? -gt 128 ]
        running
    done
    kill "$process"
    running
    for unit in "${units[@]}"; do
        grep -q '^Seccomp:.2$' "/proc/$(systemctl show --property=MainPID --value "$unit")/status"
    done
}
# Waits until the gateway shows the history of the store: it has a state, and reads the journal.
gateway() {
    local token answer=''
    until token=$(cat /var/lib/statecast-gateway/token) && [[ $answer = *'"history"'* ]]; do
        sleep 0.1
        exec {connection}<>/dev/tcp/127.0.0.1/7190 || continue
        printf 'GET /v1/stores HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' "$token" \
            >&"$connection"
        answer=$(cat <&"$connection")
        exec {connection}>&-
    done
    # It prints the token, which the system's log must not have.
    if journalctl --unit=statecast-gateway | grep -F "$token"; then return 1; fi
}
property() { systemctl show --property="$2" --value "$1"; }
# The units have reported their state, and report every second that their loops work.
notified() {
    local unit fed
    until [ "$(property statecast-primary StatusText)" = serving ]; do sleep 0.1; done
    until [ "$(property fleet-agent StatusText)" = "sender open" ]; do sleep 0.1; done
    for unit in "${units[@]}"; do
        [ "$(property "$unit" WatchdogUSec)" = 1min ]
        fed=$(property "$unit" WatchdogTimestampMonotonic)
        until [ "$(property "$unit" WatchdogTimestampMonotonic)" -gt "$fed" ]; do sleep 0.1; done
    done
}
# A process that hangs is ended, and started again.
watchdog() {
    local process
    mkdir -p /run/systemd/system/statecast-primary.service.d
    printf '[Service]\nWatchdogSec=10\n' >/run/systemd/system/statecast-primary.service.d/watchdog.conf
    systemctl daemon-reload
    systemctl start statecast-primary
    process=$(property statecast-primary MainPID)
    kill -STOP "$process"
    until [ "$(property statecast-primary NRestarts)" = 1 ] && systemctl is-active --quiet statecast-primary; do sleep 0.1; done
    [ "$(property statecast-primary MainPID)" != "$process" ]
    rm /run/systemd/system/statecast-primary.service.d/watchdog.conf
    systemctl daemon-reload
    systemctl stop statecast-primary
}
stop() {
    systemctl stop "${units[@]}"
    for unit in "${units[@]}"; do [ "$(systemctl show --property=Result --value "$unit")" = success ]; done
}

check
gateway
notified
stop
watchdog
echo "units: good"

primary=$(statecast-keys generate primary.key)
agent=$(statecast-keys generate agent.key)
board=$(statecast-keys generate board.key)
gateway=$(statecast-keys generate gateway.key)
printf '%s agent send=fleet/*\n%s board follow=*\n%s gateway follow=*\n' "$agent" "$board" "$gateway" >access
chmod 0644 access
echo "{\"from\": \"tcp://127.0.0.1:7102\", \"primaryKey\": \"$primary\"}" >agent.json
echo "{\"primaryKey\": \"$primary\", \"journal\": \"/run/statecast-journals/fleet\"}" >gateway.json
for unit in "${units[@]}"; do
    install -D --mode 0644 "/etc/statecast-keys/$unit.conf" "/run/systemd/system/$unit.service.d/keys.conf"
done
systemctl daemon-reload
check --keys board.key --primary-key "$primary"
gateway
# A list that is not valid is reported once, and once more for each request to read it.
reports() { journalctl --unit=statecast-primary | grep -c 'the list that was read before stays in effect' || true; }
echo 'no key' >access.new
chmod 0644 access.new
mv access.new access
until [ "$(reports)" = 1 ]; do sleep 0.1; done
systemctl reload statecast-primary
until [ "$(reports)" = 2 ]; do sleep 0.1; done
running
stop
echo "units with keys: good"
is_good=1
CHECK
chmod +x "$work/bin/check"
cat >"$work/system/check.service" <<'UNIT'
[Unit]
SuccessAction=poweroff
FailureAction=poweroff
[Service]
Type=oneshot
ExecStart=/usr/local/bin/check
StandardOutput=journal+console
StandardError=journal+console
# Only a check that hangs takes that long.
TimeoutStartSec=600
UNIT
ln -s ../check.service "$work/system/multi-user.target.wants/"

# The libraries of a toolchain, unless the executables contain them.
libraries=$(ldd "$programs/statecast" | sed -n 's|.*=> \(/.*\)/libswiftCore.so .*|\1|p')
# Without systemd, nothing registers the container, and all containers have the same control group.
unregistered=()
[ -d /run/systemd/system ] || unregistered=(--register=no --keep-unit)
exec 9>/run/lock/statecast-boot-units
flock 9
container() {
    timeout --foreground --kill-after=30 900 systemd-nspawn --quiet --directory=/ --volatile=yes --private-network \
        "${unregistered[@]}" --machine="statecast-units-$$" "$@" </dev/null >"$work/log" 2>&1
}
container --as-pid2 /usr/bin/true || {
    cat "$work/log" >&2
    echo "systemd-nspawn starts no container on this machine: the units were not started"
    exit
}
container --bind-ro="$work/bin:/usr/local/bin" --bind-ro="$work/system:/etc/systemd/system" \
    --bind-ro="$work/keys:/etc/statecast-keys" --bind="$work/etc:/etc/statecast" \
    ${libraries:+--bind-ro="$libraries"} --boot systemd.firstboot=no || true
for line in "units: good" "units with keys: good"; do
    grep -q "$line" "$work/log" || { cat "$work/log" >&2; echo "boot-units: not found: $line" >&2; exit 1; }
done
echo "the units start, work, reload and stop, with and without keys"
