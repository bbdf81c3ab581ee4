import Statecast
import StatecastSQLite

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A primary with many rows, which sends itself actions:
/// `wide-primary ROWS RATE PUBLISH ACTIONS JOURNAL [odd] [fill=COUNT]`.
///
/// RATE is in actions a second, of three senders, several in a batch; one in 50 is rejected. With `odd` the state has
/// values that pages and clients must not trip over. With `fill` it changes the owner of the first row, and then other
/// rows COUNT times, before it is ready. JOURNAL `memory`: there is none.
@main
enum WidePrimary {
    struct Row: Codable, Equatable, Sendable {
        var name: String
        var region: String
        var owner = "owner-ana"
        var version = "1.0.0"
        var busy = 0.0
        var load = 0.0
        var used = 0
        /// Milliseconds since 1970.
        var seen: Int64 = 0
        var isEnabled = true
        var tags: [String]
    }

    struct Totals: Codable, Equatable, Sendable {
        var samples = 0
        var moves = 0
        var busy = 0.0
        /// When the newest action was made, in milliseconds since 1970.
        var stamp: Int64 = 0
    }

    struct Wide: Codable, Equatable, Sendable {
        var rows: Table<String, Row>
        var totals = Totals()
        var notes: [String] = []
        /// Of the clients of a check: the number of times that each tag was claimed.
        var claims: Table<String, Int> = [:]
        var odd: Odd?
    }

    struct RowSampled: Action {
        let row: String
        let busy: Double
        let used: Int
        let time: Int64
    }
    struct RowMoved: Action {
        let row: String
        let region: String
        let time: Int64
    }
    struct OwnerChanged: Action {
        let row: String
        let owner: String
    }
    struct RowAdded: Action { let row: String }
    struct RowRemoved: Action { let row: String }
    struct NoteAdded: Action { let text: String }
    struct TagClaimed: Action {
        let tag: String
        static let example: TagClaimed? = TagClaimed(tag: "one")
    }

    private static let actions: [any Action.Type] = [
        RowSampled.self, RowMoved.self, OwnerChanged.self, RowAdded.self, RowRemoved.self, NoteAdded.self,
        TagClaimed.self,
    ]

    private static func name(_ index: Int) -> String {
        let digits = String(index)
        return "web-" + String(repeating: "0", count: max(0, 5 - digits.count)) + digits
    }

    private static let regions = ["north", "east", "south", "west"]

    private static func row(_ index: Int) -> Row {
        Row(name: "Server \(index)", region: regions[index % regions.count], tags: ["linux", "rack-\(index / 40)"])
    }

    private static func reduce(_ state: inout Wide, _ action: any Action) {
        switch action {
        case let action as RowSampled:
            state.rows[action.row]?.busy = action.busy
            state.rows[action.row]?.load = action.busy * 8
            state.rows[action.row]?.used = action.used
            state.rows[action.row]?.seen = action.time
            state.totals.samples += 1
            state.totals.busy = action.busy
            state.totals.stamp = action.time
        case let action as RowMoved:
            state.rows[action.row]?.region = action.region
            state.totals.moves += 1
            state.totals.stamp = action.time
        case let action as OwnerChanged: state.rows[action.row]?.owner = action.owner
        case let action as RowAdded: state.rows[action.row] = row(state.rows.count)
        case let action as RowRemoved: state.rows[action.row] = nil
        case let action as NoteAdded:
            state.notes.append(action.text)
            // The elements shift.
            if state.notes.count > 8 { state.notes.removeFirst() }
        case let action as TagClaimed: state.claims[action.tag, default: 0] += 1
        default: break
        }
    }

    private static let policy = Middleware<Wide> { action, _, next in
        switch action {
        case let action as RowMoved where action.region == "nowhere":
            throw Rejection(Rejection.Code(rawValue: "no-such-region"), "there is no region \(action.region)")
        case let action as NoteAdded where action.text.isEmpty: throw Rejection(.refused, "a note has a text")
        default: return try next(action)
        }
    }

    private static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Submits actions at a rate, which differ by their number.
    private static func send(_ rate: Int, rows: Int, with senders: [ActionSender]) async throws {
        let began = ContinuousClock.now
        var (sent, turn) = (0, 0)
        var generator = Randomness(state: UInt64(milliseconds))
        while !Task.isCancelled {
            let elapsed = (ContinuousClock.now - began) / .seconds(1)
            let sender = senders[turn % senders.count]
            turn += 1
            while sent < Int(elapsed * Double(rate)) {
                let row = name(generator.below(rows))
                let time = milliseconds
                switch sent % 50 {
                case 7: _ = try await sender.submit(RowMoved(row: row, region: "nowhere", time: time))
                case 17:
                    _ = try await sender.submit(RowMoved(row: row, region: regions[generator.below(4)], time: time))
                case 27: _ = try await sender.submit(NoteAdded(text: "note-\(sent) about \(row)"))
                case 37: _ = try await sender.submit(RowAdded(row: "extra-\(sent / 50 % 4)"))
                case 47: _ = try await sender.submit(RowRemoved(row: "extra-\((sent / 50 + 2) % 4)"))
                case 48:
                    _ = try await sender.submit(
                        OwnerChanged(row: row, owner: ["owner-ana", "owner-ben", "owner-eve"][generator.below(3)])
                    )
                default:
                    let busy = Double(generator.below(1000)) / 1000
                    _ = try await sender.submit(
                        RowSampled(row: row, busy: busy, used: generator.below(1 << 30), time: time)
                    )
                }
                sent += 1
            }
            try await Task.sleep(for: .milliseconds(5 + generator.below(10)))
        }
    }

    /// A change of the first row, and many of others.
    private static func fill(_ primary: Primary<Wide>, _ count: Int, rows: Int) async throws {
        try await primary.send(OwnerChanged(row: name(0), owner: "owner-zoe"))
        for index in 1...count {
            let row = name(1 + index % max(1, rows - 1))
            let action = RowSampled(row: row, busy: Double(index % 1000) / 1000, used: index, time: milliseconds)
            if index % 20_000 == 0 || index == count {
                try await primary.send(action)
            } else {
                primary.dispatch(action)
            }
        }
    }

    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count >= 6, let rows = Int(arguments[1]), let rate = Int(arguments[2]) else {
            print("usage: wide-primary ROWS RATE PUBLISH ACTIONS JOURNAL [odd] [fill=COUNT]")
            exit(64)
        }
        let journal = arguments[5]
        let filling = arguments.dropFirst(6).first { $0.hasPrefix("fill=") }.flatMap { Int($0.dropFirst(5)) }
        let odd = arguments.dropFirst(6).contains("odd") ? Odd() : nil
        await runUntilSignal {
            let primary = try Primary(
                store: "wide",
                state: Wide(rows: Table(uniqueKeysWithValues: (0..<rows).map { (name($0), row($0)) }), odd: odd),
                actions: actions,
                middleware: [policy],
                journal: journal == "memory" ? nil : SQLiteJournal(at: journal, durability: .normal),
                configuration: PrimaryConfiguration(publish: arguments[3], actions: arguments[4]),
                reducer: { reduce(&$0, $1) }
            )
            try await withThrowingTaskGroup { group in
                group.addTask { try await primary.run() }
                let address = try await primary.address
                if let filling { try await fill(primary, filling, rows: rows) }
                print("ready store=wide publish=\(address.publish) actions=\(address.actions)")
                fflush(nil)
                if rate > 0 {
                    let senders = try (0..<3).map { _ in try ActionSender(store: "wide", from: address.publish) }
                    for sender in senders { group.addTask { try await sender.run() } }
                    group.addTask { try await send(rate, rows: rows, with: senders) }
                }
                // Also a signal ends it.
                try await group.next()
                group.cancelAll()
            }
        }
    }
}

/// Numbers that look random.
private struct Randomness {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(max(1, bound)))
    }
}

extension WidePrimary {
    /// Values and keys over which clients may trip.
    struct Odd: Codable, Equatable, Sendable {
        var texts: Table<String, String> = [
            "<script>alert(1)</script>": "<script>alert(1)</script><img src=x onerror=alert(2)>",
            "__proto__": "polluted",
            "constructor": "{\"prototype\":{\"x\":1}}",
            "": "an empty key",
            "a/b": "a slash",
            "m~n~0~1": "tildes",
            "$int": "12",
            "$$": "dollars",
            "quotes": "\"'`\\ </script> \u{2028}\u{2029} \u{0} \u{7F} \u{1B}[31m",
            "replacement": "\u{FFFD}\u{FFFD}",
            "bidirectional": "\u{202E}abc\u{202C} \u{200B} \u{FEFF}",
            "emoji": "👩‍👩‍👧‍👧 é e\u{301}",
            "long": String(repeating: "0123456789abcdef", count: 1 << 16),
        ]
        var shapes: Table<String, Table<String, Int>> = [
            "__proto__": ["isAdmin": 1], "looks like an integer": ["$int": 1], "looks cut": ["$cut": 2], "empty": [:],
        ]
        var integers: [Int64] = [.min, .max, 1 << 53, (1 << 53) + 1, -(1 << 53), -(1 << 53) - 1]
        var unsigned: [UInt64] = [1 << 63, .max]
        var floats = [-0.0, 0.1, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity]
        var nan = Double.nan
        var bytes: [UInt8] = [0, 1, 2, 254, 255]
        var nothing: [Int?] = [nil, 1]
        /// State, this value, and 62 arrays: as deep as the coding permits.
        var nest = Nest(depth: 62)

        /// NaN equals itself here: a state has a complete `==`.
        static func == (one: Odd, other: Odd) -> Bool { one.texts == other.texts && one.shapes == other.shapes }
    }

    /// An array in an array in an array.
    struct Nest: Codable, Equatable, Sendable {
        var inner: [Nest]

        init(depth: Int) { inner = depth > 1 ? [Nest(depth: depth - 1)] : [] }

        init(from decoder: any Decoder) throws { inner = try decoder.singleValueContainer().decode([Nest].self) }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(inner)
        }
    }
}
