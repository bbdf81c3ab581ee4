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
    # In the tables: the name if it is not given; without a row if it is empty. A contestant without a column is in all
    # columns of a grid.
    row: str = None
    column: str = None


@dataclasses.dataclass(frozen=True)
class Ratio:
    """A figure of one contestant, divided by that of another one (or by the sum of several) in the same round."""

    contestant: str
    figure: str
    # An absolute goal has no reference.
    references: tuple = ()
    at_least: float = None
    at_most: float = None


@dataclasses.dataclass(frozen=True)
class Section:
    key: str
    title: str
    contestants: list
    # What the table shows: the path of a figure, a title, and what the figure is multiplied with.
    columns: list
    ratios: list
    rounds: int = None
    # A grid shows one figure of all contestants by row and column. A ratio is in the cell of its "contestant", or in the
    # contestant's column and the row of the "reference".
    grid: str = None
    shows_cpu: bool = False


def statecast(name, workload, *arguments, **place):
    return Contestant(name, frozenset({"statecast-bench"}), lambda: programs.statecast(workload, *arguments), **place)


def redis(name, durability, workload, *arguments, **place):
    return Contestant(name, frozenset({"redis"}), lambda: programs.redis(durability, workload, *arguments), **place)


def nats(name, workload, *arguments, synchronous=False, **place):
    def measure():
        return programs.nats(workload, *arguments, synchronous=synchronous)

    return Contestant(name, frozenset({"nats"}), measure, **place)


RATE = ("rate", "1,000/s", 1e-3)
LATENCY = [("p50", "p50, us", 1), ("p99", "p99, us", 1)]
RAW = "raw pipe, a message an action"


def curve_ratios(figure, *names):
    """Each row with CURVE beside the one without."""
    return [Ratio(f"{name}, CURVE", figure, (name,)) for name in names]


def stream(many):
    count = ["--actions", str(many)]
    return Section(
        "1a",
        "One sender to one replica, 100 bytes, constant state, 16,384 in flight",
        [
            statecast(RAW, "raw-stream", *count, row="raw pipe"),
            statecast(f"{RAW}, CURVE", "raw-stream", *count, "--curve", row="raw pipe, CURVE"),
            statecast("raw pipe, 100 actions a message", "raw-stream", *count, "--pack", "100"),
            statecast("Statecast, no journal", "stream", *count),
            statecast("Statecast, no journal, CURVE", "stream", *count, "--curve"),
            statecast("Statecast, normal", "stream", *count, "--durability", "normal"),
            statecast("Statecast, normal, CURVE", "stream", *count, "--durability", "normal", "--curve"),
            statecast("Statecast, full", "stream", *count, "--durability", "full"),
        ],
        [RATE, ("p50", "p50, ms", 1e-3), ("p99", "p99, ms", 1e-3)],
        [
            Ratio("Statecast, no journal", "rate", (RAW,), at_least=1.0),
            Ratio("Statecast, normal", "rate", (RAW,), at_least=0.9),
            Ratio("Statecast, full", "rate", (RAW,), at_least=0.85),
            *curve_ratios("rate", RAW, "Statecast, no journal", "Statecast, normal"),
        ],
        shows_cpu=True,
    )


def windows(many):
    contestants, ratios = [], []
    for window in (1024, 4096, 16_384, 65_536):
        options = ["--actions", str(many), "--window", str(window)]
        column = f"{window:,}"
        raw, none, full = (
            f"{name}, {column} in flight" for name in ("raw pipe", "Statecast, no journal", "Statecast, full")
        )
        contestants += [
            statecast(raw, "raw-stream", *options, row="raw pipe", column=column),
            statecast(none, "stream", *options, row="no journal", column=column),
            statecast(full, "stream", *options, "--durability", "full", row="full", column=column),
        ]
        ratios += [Ratio(none, "rate", (raw,)), Ratio(full, "rate", (raw,))]
    return Section("1w", "The same by the number in flight", contestants, [RATE], ratios, grid="contestant")


def rows(many, few, synchronous):
    count, small = (["--actions", str(actions), "--rows", "10000", "--readers", "2"] for actions in (many, synchronous))
    function, batches = ["--function"], ["--function", "--batched"]
    folder = "NATS file, synchronous folder"
    by_durability = {
        "no journal": [
            statecast("Statecast, no journal", "stream", *count),
            redis("Redis, no persistence", "none", "rows", *count),
            redis("Redis function, no persistence", "none", "rows", *count, *function),
            redis("Redis function, batches, no persistence", "none", "rows", *count, *batches),
            nats("NATS memory", "rows", *count, "--memory"),
            nats("NATS memory, de-duplicated", "rows", *count, "--memory", "--deduplicated"),
        ],
        "normal": [
            statecast("Statecast, normal", "stream", *count, "--durability", "normal"),
            redis("Redis, AOF everysec", "everysec", "rows", *count),
            redis("Redis function, AOF everysec", "everysec", "rows", *count, *function),
            redis("Redis function, batches, AOF everysec", "everysec", "rows", *count, *batches),
            nats("NATS file", "rows", *count),
            nats("NATS file, de-duplicated", "rows", *count, "--deduplicated"),
        ],
        "full": [
            statecast("Statecast, full", "stream", *count, "--durability", "full"),
            redis("Redis, AOF always, MULTI", "always", "rows", *count, "--transactions"),
            redis("Redis function, AOF always, MULTI", "always", "rows", *count, *function, "--transactions"),
            redis("Redis function, batches, AOF always", "always", "rows", *count, *batches, "--batch", "2048"),
            nats(folder, "rows", *small, synchronous=True),
            nats(f"{folder}, de-duplicated", "rows", *small, "--deduplicated", synchronous=True),
        ],
    }
    table_rows = ("Statecast", "Redis", "Redis function", "Redis function, batches", "NATS", "NATS, de-duplicated")
    goals = (0.55, None, None, 7, None)
    contestants = [statecast(RAW, "raw-stream", "--actions", str(few), row="raw pipe")]
    ratios = []
    for column, of_column in by_durability.items():
        contestants += [
            dataclasses.replace(contestant, row=row, column=column) for row, contestant in zip(table_rows, of_column)
        ]
        ours, *peers = of_column
        ratios += [Ratio(ours.name, "rate", (peer.name,), at_least=goal) for peer, goal in zip(peers, goals)]
        ratios.append(Ratio(ours.name, "rate", (RAW,)))
    return Section(
        "1b",
        "100 random bytes into one of 10,000 rows, two readers whose tables are compared",
        contestants,
        [RATE],
        ratios,
        grid="reference",
        shows_cpu=True,
    )


def single(many, few):
    raw, commit = "raw pipe", "one commit alone"
    redis_none, redis_always = "Redis SET+PUBLISH, no persistence", "Redis SET+PUBLISH, AOF always"
    nats_full = "NATS JetStream, synchronous folder"
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
            redis(redis_none, "none", "single", *count, row="Redis, no persistence"),
            redis(redis_always, "always", "single", "--actions", str(few), row="Redis, AOF always"),
            nats("NATS JetStream, file", "single", *count, row="NATS, file"),
            nats(nats_full, "single", "--actions", str(few), synchronous=True, row="NATS, synchronous folder"),
        ],
        LATENCY,
        [
            Ratio("Statecast, no journal", "p50", (raw,), at_most=1.5),
            Ratio("Statecast, no journal", "p50", (redis_none,), at_most=2),
            Ratio("Statecast, full", "p50", (raw, commit), at_most=1.3),
            Ratio("Statecast, full", "p50", (nats_full,), at_most=1),
            Ratio("Statecast, full", "p50", (redis_always,)),
            *curve_ratios("p50", raw, "Statecast, no journal"),
        ],
    )


def fan_out(deliveries, subscribers):
    contestants, ratios = [], []
    for count in subscribers:
        raw, ours, column = f"raw PUB, {count} subscribers", f"Statecast, {count} subscribers", f"{count}"
        options = ["--subscribers", str(count)]
        raw_options = [*options, "--actions", str(max(1000, min(200_000, deliveries // count)))]
        contestants += [
            statecast(raw, "raw-fan-out", *raw_options, row="raw PUB", column=column),
            statecast(ours, "fan-out", *options, "--actions", str(50_000), row="Statecast", column=column),
        ]
        ratios.append(Ratio(ours, "rate", (raw,), at_least=0.8 if count >= 100 else None))
    return Section(
        "3",
        "Fan-out of the actions of (1b): deliveries by the number of subscribers",
        contestants,
        [RATE],
        ratios,
        grid="contestant",
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
        "One field of one row: CPU by role, bytes of the update",
        contestants,
        [
            ("cpu.primary", "primary, us", 1e-3),
            ("cpu.replica", "replica, us", 1e-3),
            ("more.bytes_p99", "bytes, p99", 1),
        ],
        [
            Ratio(large, "cpu.primary", (small,), at_most=1.3),
            Ratio(large, "cpu.replica", (small,), at_most=1.3),
            Ratio(large, "more.bytes_p99", at_most=64),
            Ratio("dictionary, 100,000 rows", "cpu.primary", at_most=15e6),
            Ratio("array, 100,000 rows", "cpu.primary", at_most=3e6),
        ],
    )


def join():
    return Section(
        "5",
        "Latency at 5,000 actions/s while replicas join a table of 100,000 rows",
        [statecast("Statecast", "join")],
        [
            ("more.live_p50", "ms until live", 1e-3),
            ("more.idle_p99", "ms p99 without joins", 1e-3),
            ("p99", "ms p99 during joins", 1e-3),
            ("more.join_to_idle", "times as long", 1),
        ],
        [Ratio("Statecast", "more.join_to_idle", at_most=2)],
    )


def senders(many):
    one = "one sender"
    count = ["--actions", str(many)]
    return Section(
        "6",
        "Senders at full speed until the last receipt",
        [
            statecast(one, "senders", "--senders", "1", *count),
            statecast("16 senders, tasks", "senders", "--senders", "16", *count),
            statecast("16 senders, processes", "senders", "--senders", "16", "--processes", *count),
            statecast("one sender, every second action rejected", "senders", "--senders", "1", "--rejecting", *count),
            statecast("one store, full", "stores", "--stores", "1", "--actions", str(many // 4)),
            statecast("two stores of one node, full", "stores", "--stores", "2", "--actions", str(many // 4)),
        ],
        [RATE],
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
        f"Memory per row of 1,000,000, and over {seconds:,} s of load",
        [
            statecast("rows", "row-memory"),
            statecast("soak", "soak", "--seconds", str(seconds), "--durability", "full"),
        ],
        [
            ("more.state", "bytes of state", 1),
            ("more.primary", "in a primary", 1),
            ("more.replica", "in a replica", 1),
            ("more.resident_mib", "MiB resident", 1),
            ("more.growth", "times the quarter before", 1),
        ],
        [Ratio("soak", "more.growth", at_most=1.02)],
        rounds=1,
    )


def in_process():
    contestants, ratios = [], []

    def add(benchmark, subject, reference, ns=None, speed=None):
        name = f"{benchmark}: {subject} / {reference}"

        def measure():
            return programs.in_process(benchmark, subject, reference)

        contestants.append(Contestant(name, frozenset({"core"}), measure, row=benchmark if speed else ""))
        if ns:
            ratios.append(Ratio(name, "ns", at_most=ns))
        if speed:
            ratios.append(Ratio(name, "speed", at_least=speed))

    for observers in ("1 observer", "10 observers"):
        for callers in ("1 thread", "8 threads", "1 task", "8 tasks"):
            ns = 100 if (observers, callers) == ("1 observer", "1 thread") else None
            add(f"{observers}, {callers}", "core", "classic", ns, speed=10 if observers == "1 observer" else None)
    add("12 fields to props, scope", "scope", "observer that compares", speed=1 / 1.1)
    add("12 fields, scope of a stored part", "scope", "observer that compares", speed=1 / 1.1)
    add("12 fields to props, component", "core, component without an actor", "classic, queue", speed=3)
    return Section(
        "8",
        "In process: the core beside a serial queue, scopes beside an observer that compares",
        contestants,
        [("ns", "ns", 1), ("reference_ns", "reference, ns", 1), ("speed", "speed", 1)],
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
        [("rate", "lines/s", 1)],
        [Ratio("Statecast", "rate", at_least=300_000)],
    )


def starts(many):
    def contestant(name, how):
        needs = frozenset({"statecast-primary", "statecast-send"})
        return Contestant(name, needs, lambda: programs.start_after(how, many))

    return Section(
        "10",
        f"Start of statecast-primary until it is ready, after {many:,} actions",
        [contestant("after kill -9", signal.SIGKILL), contestant("after a clean stop", signal.SIGTERM)],
        [("seconds", "seconds", 1)],
        [
            Ratio("after kill -9", "seconds", at_most=0.5),
            Ratio("after a clean stop", "seconds", at_most=0.1),
        ],
    )


def database(many, rows):
    def contestant(name, workload, *arguments):
        needs = frozenset({"postgresql", "statecast-bench", "statecast-journal"})
        return Contestant(name, needs, lambda: programs.databases(workload, *arguments))

    raw = "libpq, a row of 16 KiB a commit"
    contestants = [contestant(raw, "raw-database", "--actions", str(rows))]
    contestants += [
        contestant(f"Statecast, actions of {size}", "stream", "--bytes", str(size), "--actions", str(count))
        for size, count in ((100, many), (16_384, many // 100))
    ]
    return Section(
        "11",
        "Records into a PostgreSQL with a synchronous standby",
        contestants,
        [("rate", "MB/s", 1e-6)],
        [Ratio(contestant.name, "rate", (raw,), at_least=0.7) for contestant in contestants[1:]],
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
        database(1_000_000, 3000),
    ]
