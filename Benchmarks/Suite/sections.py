"""The workloads, their contestants, and the ratios that are goals."""
import dataclasses
import signal
import typing

import programs


@dataclasses.dataclass(frozen=True)
class Contestant:
    name: str
    needs: frozenset
    measure: typing.Callable


@dataclasses.dataclass(frozen=True)
class Ratio:
    """A figure of one contestant, divided by that of another one (or by the sum of several) in the same round."""

    contestant: str
    figure: str
    references: tuple = ()
    at_least: float = None
    at_most: float = None
    # An absolute goal has no reference.
    scale: float = 1


@dataclasses.dataclass(frozen=True)
class Section:
    key: str
    title: str
    contestants: list
    columns: list
    ratios: list
    rounds: int = None


def statecast(name, workload, *arguments):
    return Contestant(name, frozenset({"statecast-bench"}), lambda: programs.statecast(workload, *arguments))


def redis(name, durability, workload, *arguments):
    return Contestant(name, frozenset({"redis"}), lambda: programs.redis(durability, workload, *arguments))


def nats(name, workload, *arguments, synchronous=False):
    return Contestant(name, frozenset({"nats"}), lambda: programs.nats(workload, *arguments, synchronous=synchronous))


RATE = [("rate", "per second"), ("p50", "p50 us"), ("p99", "p99 us"), ("in_flight_max", "in flight")]
LATENCY = [("p50", "p50 us"), ("p99", "p99 us"), ("p999", "p99.9 us")]
RAW = "raw pipe, a message an action"


def curve_ratios(figure, *names):
    """Each row with CURVE beside the one without."""
    return [Ratio(f"{name}, CURVE", figure, (name,)) for name in names]


def stream(many):
    count = ["--actions", str(many)]
    return Section(
        "1a",
        "One sender to one replica, 100 bytes, state of constant size, at most 16,384 in flight",
        [
            statecast(RAW, "raw-stream", *count),
            statecast(f"{RAW}, CURVE", "raw-stream", *count, "--curve"),
            statecast("raw pipe, 100 actions a message", "raw-stream", *count, "--pack", "100"),
            statecast("Statecast, no journal", "stream", *count),
            statecast("Statecast, no journal, CURVE", "stream", *count, "--curve"),
            statecast("Statecast, normal", "stream", *count, "--durability", "normal"),
            statecast("Statecast, normal, CURVE", "stream", *count, "--durability", "normal", "--curve"),
            statecast("Statecast, full", "stream", *count, "--durability", "full"),
        ],
        RATE,
        [
            Ratio("Statecast, no journal", "rate", (RAW,), at_least=1.0),
            Ratio("Statecast, normal", "rate", (RAW,), at_least=0.9),
            Ratio("Statecast, full", "rate", (RAW,), at_least=0.85),
            *curve_ratios("rate", RAW, "Statecast, no journal", "Statecast, normal"),
        ],
    )


def windows(many):
    contestants, ratios = [], []
    for window in (1024, 4096, 16_384, 65_536):
        options = ["--actions", str(many), "--window", str(window)]
        raw, full = f"raw pipe, {window:,} in flight", f"Statecast, full, {window:,} in flight"
        contestants += [
            statecast(raw, "raw-stream", *options),
            statecast(f"Statecast, no journal, {window:,} in flight", "stream", *options),
            statecast(full, "stream", *options, "--durability", "full"),
        ]
        ratios.append(Ratio(f"Statecast, no journal, {window:,} in flight", "rate", (raw,)))
        ratios.append(Ratio(full, "rate", (raw,)))
    return Section("1w", "The same by the number in flight", contestants, RATE, ratios)


def rows(many, few, synchronous):
    count = ["--actions", str(many), "--rows", "10000", "--readers", "2"]
    full = [
        redis("Redis, AOF always, MULTI", "always", "rows", *count, "--transactions"),
        nats(
            "NATS file, synchronous folder",
            "rows",
            "--actions",
            str(synchronous),
            "--rows",
            "10000",
            "--readers",
            "2",
            synchronous=True,
        ),
    ]
    normal = [redis("Redis, AOF everysec", "everysec", "rows", *count), nats("NATS file", "rows", *count)]
    none = [redis("Redis, no persistence", "none", "rows", *count), nats("NATS memory", "rows", *count, "--memory")]
    ours = [
        statecast("Statecast, no journal", "stream", *count),
        statecast("Statecast, normal", "stream", *count, "--durability", "normal"),
        statecast("Statecast, full", "stream", *count, "--durability", "full"),
    ]
    ratios = []
    for contestant, peers in zip(ours, (none, normal, full)):
        for peer, goal in zip(peers, (2.5, 7)):
            ratios.append(Ratio(contestant.name, "rate", (peer.name,), at_least=goal))
        ratios.append(Ratio(contestant.name, "rate", (RAW,)))
    raw = statecast(RAW, "raw-stream", "--actions", str(few))
    return Section(
        "1b",
        "100 random bytes into one of 10,000 rows, two readers that store the rows and are compared",
        [raw] + ours + none + normal + full,
        RATE,
        ratios,
    )


def single(many, few):
    raw, commit = "raw pipe", "one commit alone"
    count = ["--actions", str(many)]
    return Section(
        "2",
        "One action at a time, until a reader shows it",
        [
            statecast(raw, "raw-single", *count),
            statecast(f"{raw}, CURVE", "raw-single", *count, "--curve"),
            statecast(commit, "commit", "--actions", str(few)),
            statecast("Statecast, no journal", "single", *count),
            statecast("Statecast, no journal, CURVE", "single", *count, "--curve"),
            statecast("Statecast, full", "single", "--durability", "full", "--actions", str(few)),
            redis("Redis SET+PUBLISH, no persistence", "none", "single", *count),
            redis("Redis SET+PUBLISH, AOF always", "always", "single", "--actions", str(few)),
            nats("NATS JetStream, file", "single", *count),
            nats("NATS JetStream, synchronous folder", "single", "--actions", str(few), synchronous=True),
        ],
        LATENCY,
        [
            Ratio("Statecast, no journal", "p50", (raw,), at_most=1.5),
            Ratio("Statecast, no journal", "p50", ("Redis SET+PUBLISH, no persistence",), at_most=2),
            Ratio("Statecast, full", "p50", (raw, commit), at_most=1.3),
            Ratio("Statecast, full", "p50", ("NATS JetStream, synchronous folder",), at_most=1),
            Ratio("Statecast, full", "p50", ("Redis SET+PUBLISH, AOF always",)),
            *curve_ratios("p50", raw, "Statecast, no journal"),
            *curve_ratios("p99", raw, "Statecast, no journal"),
        ],
    )


def fan_out(deliveries, subscribers):
    contestants, ratios = [], []
    for count in subscribers:
        raw, ours = f"raw PUB, {count} subscribers", f"Statecast, {count} subscribers"
        options = ["--subscribers", str(count)]
        contestants += [
            statecast(raw, "raw-fan-out", *options, "--actions", str(max(1000, min(200_000, deliveries // count)))),
            statecast(ours, "fan-out", *options, "--actions", str(50_000)),
        ]
        ratios.append(Ratio(ours, "rate", (raw,), at_least=0.8 if count >= 100 else None))
    return Section(
        "3",
        "Fan-out: actions that reached a subscriber, per second; 100 random bytes into one of 10,000 rows",
        contestants,
        [("rate", "deliveries per second"), ("more.messages", "messages"), ("more.bytes", "bytes")],
        ratios,
    )


def field(many):
    def contestant(shape, rows, count):
        name = f"{shape}, {rows:,} rows"
        return statecast(name, "field", "--shape", shape, "--rows", str(rows), "--actions", str(count))

    contestants = [contestant("table", rows, many) for rows in (1000, 100_000, 1_000_000)]
    contestants += [contestant(shape, 100_000, 40) for shape in ("dictionary", "array")]
    large, small = "table, 1,000,000 rows", "table, 1,000 rows"
    return Section(
        "4",
        "One field of one row, one at a time: CPU time per action by role, bytes of its update",
        contestants,
        [
            ("cpu.primary", "primary, ns"),
            ("cpu.replica", "replica, ns"),
            ("cpu.sender", "sender, ns"),
            ("more.bytes_p99", "bytes"),
        ],
        [
            Ratio(large, "cpu.primary", (small,), at_most=1.3),
            Ratio(large, "cpu.replica", (small,), at_most=1.3),
            Ratio(large, "more.bytes_p99", at_most=64),
            Ratio("dictionary, 100,000 rows", "cpu.primary", at_most=15, scale=1e-6),
            Ratio("array, 100,000 rows", "cpu.primary", at_most=3, scale=1e-6),
        ],
    )


def join():
    return Section(
        "5",
        "Joins of a table of 100,000 rows at 5,000 actions per second: the latency at another replica",
        [statecast("Statecast", "join")],
        [
            ("more.idle_p99", "p99 us without joins"),
            ("p99", "p99 us during joins"),
            ("more.live_p50", "us until live"),
            ("more.join_to_idle", "p99, ratio"),
        ],
        [Ratio("Statecast", "more.join_to_idle", at_most=2)],
    )


def senders(many):
    one = "one sender"
    count = ["--actions", str(many)]
    return Section(
        "6",
        "Senders at full speed until the last receipt, no journal",
        [
            statecast(one, "senders", "--senders", "1", *count),
            statecast("16 senders, tasks", "senders", "--senders", "16", *count),
            statecast("16 senders, processes", "senders", "--senders", "16", "--processes", *count),
            statecast("one sender, every second action rejected", "senders", "--senders", "1", "--rejecting", *count),
            statecast("one store, full", "stores", "--stores", "1", "--actions", str(many // 4)),
            statecast("two stores of one node, full", "stores", "--stores", "2", "--actions", str(many // 4)),
        ],
        [("rate", "per second")],
        [
            Ratio("16 senders, tasks", "rate", (one,), at_least=0.95),
            Ratio("16 senders, processes", "rate", (one,), at_least=0.95),
            Ratio("one sender, every second action rejected", "rate", (one,)),
            Ratio("two stores of one node, full", "rate", ("one store, full",)),
        ],
    )


def memory(seconds):
    return Section(
        "7",
        f"Memory: per row of 1,000,000, and under load for {seconds:,} s with a journal that is pruned",
        [
            statecast("rows", "row-memory"),
            statecast("soak", "soak", "--seconds", str(seconds), "--durability", "full"),
        ],
        [
            ("more.state", "state, bytes per row"),
            ("more.primary", "primary, bytes per row"),
            ("more.replica", "replica, bytes per row"),
            ("more.resident_mib", "resident MiB"),
            ("more.growth", "last quarter to the one before"),
        ],
        [Ratio("soak", "more.growth", at_most=1.02)],
        rounds=1,
    )


def in_process():
    contestants, ratios = [], []

    def add(benchmark, subject, reference, rate=None, speed=None):
        name = f"{benchmark}: {subject} / {reference}"
        contestants.append(Contestant(name, frozenset({"core"}), lambda: programs.in_process(benchmark, subject, reference)))
        if rate:
            ratios.append(Ratio(name, "rate", at_least=rate))
        ratios.append(Ratio(name, "speed", at_least=speed))

    for observers in ("1 observer", "10 observers"):
        for callers in ("1 thread", "8 threads", "1 task", "8 tasks"):
            rate = 10_000_000 if (observers, callers) == ("1 observer", "1 thread") else None
            add(f"{observers}, {callers}", "core", "classic", rate, speed=10 if observers == "1 observer" else None)
    add("12 fields to props, scope", "scope", "observer that compares", speed=1 / 1.1)
    add("12 fields, scope of a stored part", "scope", "observer that compares", speed=1 / 1.1)
    add("12 fields to props, component", "core, component without an actor", "classic, queue", speed=3)
    return Section(
        "8",
        "In process: the core beside a store as Unicore's, which is a serial queue; medians of dozens of rounds within one run",
        contestants,
        [("rate", "actions per second"), ("ns", "ns per action"), ("reference_ns", "ns of the reference"), ("speed", "speed")],
        ratios,
        rounds=1,
    )


def lines(many):
    return Section(
        "9",
        "Lines through statecast-send --ndjson",
        [
            Contestant(
                "Statecast",
                frozenset({"statecast-primary", "statecast-send"}),
                lambda: programs.ndjson(many),
            )
        ],
        [("rate", "lines per second")],
        [Ratio("Statecast", "rate", at_least=300_000)],
    )


def starts(many):
    def contestant(name, how):
        needs = frozenset({"statecast-primary", "statecast-send"})
        return Contestant(name, needs, lambda: programs.start_after(how, many))

    return Section(
        "10",
        f"From the start of statecast-primary until it is ready, after {many:,} actions",
        [contestant("after kill -9", signal.SIGKILL), contestant("after a clean stop", signal.SIGTERM)],
        [("seconds", "seconds")],
        [
            Ratio("after kill -9", "seconds", at_most=0.5),
            Ratio("after a clean stop", "seconds", at_most=0.1),
        ],
    )


def all_sections(quick):
    if quick:
        return [
            stream(400_000),
            rows(100_000, 300_000, 1000),
            single(2000, 1000),
            fan_out(1_000_000, (100,)),
            senders(400_000),
            lines(300_000),
        ]
    return [
        stream(1_000_000),
        windows(1_000_000),
        rows(400_000, 1_000_000, 3000),
        single(10_000, 3000),
        fan_out(2_000_000, (1, 10, 100, 200)),
        field(5000),
        join(),
        senders(2_000_000),
        memory(600),
        in_process(),
        lines(1_000_000),
        starts(1_000_000),
    ]
