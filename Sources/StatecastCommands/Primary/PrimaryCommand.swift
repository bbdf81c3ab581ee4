package import ArgumentParser
import Logging
import Statecast
import StatecastCommandLine
import StatecastJournal

package struct PrimaryCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "statecast-primary",
        abstract: "Owns a store: receives actions, and publishes the changes of the state.",
        discussion: """
            Once all endpoints are bound it prints one line: \
            ready store=fleet epoch=1 revision=0 publish=tcp://127.0.0.1:7100 actions=tcp://127.0.0.1:7101

            Endpoints are tcp://HOST:PORT or ipc://PATH; a port may be * for any free one.

            With --keys and --access all connections are encrypted, and only listed keys may connect; the ready line \
            then ends with receipts=ENDPOINT, where senders connect. SIGHUP reads the access list again.


            """ + CommonOptions.discussion,
        version: Release.line(of: "statecast-primary")
    )

    @Option(
        help: ArgumentHelp("The app to serve: fleet or counter. (STATECAST_APP, default: fleet)", valueName: "app"),
        completion: .values(of: ServedApp.self)
    )
    var app: String?

    @Option(help: ArgumentHelp("The store's name. (STATECAST_STORE, default: the app's)", valueName: "name"))
    var store: String?

    @Option(
        help: ArgumentHelp(
            "The endpoint to which replicas, and without --keys senders, connect. (STATECAST_PUBLISH, default: "
                + "tcp://127.0.0.1:7100)",
            valueName: "endpoint"
        )
    )
    var publish: String?

    @Option(
        help: ArgumentHelp(
            "The endpoint to which senders push actions. (STATECAST_ACTIONS, default: tcp://127.0.0.1:7101)",
            valueName: "endpoint"
        )
    )
    var actions: String?

    @Option(
        help: ArgumentHelp(
            "The endpoint for actions that senders receive; its host may be *, for the host at which they reached this "
                + "process. (STATECAST_ADVERTISE_ACTIONS, default: the bound endpoint)",
            valueName: "endpoint"
        )
    )
    var advertiseActions: String?

    @Option(
        help: ArgumentHelp(
            "The endpoint to which senders connect for receipts, with --keys. "
                + "(STATECAST_RECEIPTS, default: tcp://127.0.0.1:7102)",
            valueName: "endpoint"
        )
    )
    var receipts: String?

    @Option(
        help: ArgumentHelp(
            "The endpoint at which the store's peers are listed, as the store NAME.peers, or off. With --keys they are "
                + "listed only if this is given. (STATECAST_PEERS, default: the endpoint of --publish)",
            valueName: "endpoint"
        )
    )
    var peers: String?

    @Option(
        help: ArgumentHelp(
            "The file with this primary's keys, which encrypt all connections; see statecast-keys. (STATECAST_KEYS)",
            valueName: "file"
        ),
        completion: .file()
    )
    var keys: String?

    @Option(
        help: ArgumentHelp(
            "The file that lists who may follow and send, with --keys; read again when it has changed, and on SIGHUP. "
                + "(STATECAST_ACCESS)",
            valueName: "file"
        ),
        completion: .file()
    )
    var access: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The most messages queued for each slow subscriber, before it misses some and catches up later. "
                + "(STATECAST_HIGH_WATER_MARK, default: 1000)",
            valueName: "messages"
        )
    )
    var highWaterMark: Int?

    @Option(
        help: ArgumentHelp(
            "The directory of the store's journal, memory for none, or postgresql://HOST/DATABASE, which several nodes "
                + "share. (STATECAST_JOURNAL, default: a directory named after the store in $STATE_DIRECTORY, "
                + "$XDG_STATE_HOME/statecast or ~/.local/state/statecast)",
            valueName: "path"
        ),
        completion: .directory
    )
    var journal: String?

    @Option(
        help: ArgumentHelp(
            "What an acknowledged action survives: full (a power cut) or normal (the end of the process; a power cut "
                + "can lose the last second). (STATECAST_DURABILITY, default: full)",
            valueName: "durability"
        ),
        completion: .values(of: Durability.self)
    )
    var durability: String?

    @Option(
        help: ArgumentHelp(
            "How long a standby waits for a sign of the leader before it takes over, with a shared journal. "
                + "(STATECAST_LEASE, default: 3s)",
            valueName: "duration"
        )
    )
    var lease: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Store a snapshot after this many bytes of records, or the size of the state if that is more. "
                + "(STATECAST_SNAPSHOT_BYTES, default: 33554432)",
            valueName: "bytes"
        )
    )
    var snapshotBytes: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Store a snapshot after this many records of any size. (STATECAST_SNAPSHOT_RECORDS, default: 100000)",
            valueName: "records"
        )
    )
    var snapshotRecords: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Keep at least this many bytes of the newest records, and remove records older than that and the last two "
                + "snapshots. (STATECAST_HISTORY_BYTES, default: 1073741824)",
            valueName: "bytes"
        )
    )
    var historyBytes: Int?

    @Flag(
        inversion: .prefixedNo,
        help: "Bind beyond this machine, without encryption or authentication. (STATECAST_INSECURE)"
    )
    var insecure: Bool?

    @OptionGroup var node: NodeOptions

    @OptionGroup var common: CommonOptions

    package init() {}

    package func run() async throws {
        Hangup.ignore()
        try await reportingFailures {
            let settings = try await common.settings(
                [
                    .app: .text(app), .store: .text(store),
                    .publish: .text(publish), .actions: .text(actions), .receipts: .text(receipts),
                    .peers: .text(peers),
                    .keys: .text(keys), .access: .text(access),
                    .advertiseActions: .text(advertiseActions),
                    .journal: .text(journal), .durability: .text(durability),
                    .snapshotBytes: .count(snapshotBytes), .snapshotRecords: .count(snapshotRecords),
                    .historyBytes: .count(historyBytes), .lease: .text(lease),
                    .highWaterMark: .count(highWaterMark), .insecure: .isOn(insecure),
                ].merging(node.flags) { $1 }
            )
            let monitoring = try await Monitoring(settings)
            let logger = Logger(label: "statecast.primary")
            let app = try await settings.choice(.app, default: ServedApp.fleet)
            let store = try await settings.text(.store) ?? app.storeName
            let configuration = try await PrimaryConfiguration(settings, store: store)
            let primary = try PrimaryNode(configuration: configuration, logger: logger)
            let journal = try await JournalLocation.journal(settings, store: store)
            let served = try app.serve(as: store, on: primary, journal: journal, logger: logger)
            try await SignalledRun.until(
                done: {
                    try await withThrowingTaskGroup { group in
                        group.addTask { try await primary.run() }
                        // A node that cannot start, or is stopped before, ends run(), which says why.
                        if let ready = try? await served.readyLine(at: primary.address) {
                            await Self.announce(ready, logger)
                        }
                        try await group.waitForAll()
                    }
                },
                beside: try monitoring.services(for: [primary], logger: logger),
                observedBy: monitoring.observers(of: [primary]),
                onHangup: { await primary.reloadAccessList() },
                logger: logger
            )
        }
    }

    /// Prints the ready line. If standard output cannot be written, logs the line on standard error and continues to
    /// serve.
    private static func announce(_ ready: String, _ logger: Logger) async {
        do { try await LineOutput().write(ready) } catch is CancellationError {} catch {
            logger.warning("\(error); \(ready)")
        }
    }
}
