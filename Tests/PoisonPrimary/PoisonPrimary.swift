import Statecast
import StatecastSQLite
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A primary with actions that end the process: `poison-primary JOURNAL PUBLISH ACTIONS [middleware] [repaired]`. And
/// programs without a primary: `poison-primary deaf` does not end when it is asked to, `poison-primary refused` fails
/// with a rejection.
@main
enum PoisonPrimary {
    struct Counted: Action {}

    /// Makes a change that is too large for an update, so that its batch is reduced again in halves.
    struct Unpublishable: Action {}

    /// Traps at a place of its way.
    struct Poison: Action {
        enum Place: String, Codable { case decoding, middleware, encoding, reducer, state }

        let place: Place
        /// At which of the times that the process reaches the place; 0: never.
        let pass: Int

        private static let passesCount = Atomic(0)

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            place = try container.decode(Place.self, forKey: .place)
            pass = try container.decode(Int.self, forKey: .pass)
            reach(.decoding)
        }

        func encode(to encoder: any Encoder) throws {
            reach(.encoding)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(place, forKey: .place)
            try container.encode(pass, forKey: .pass)
        }

        private enum CodingKeys: CodingKey { case place, pass }

        func reach(_ here: Place) {
            guard here == place, pass > 0, !CommandLine.arguments.contains("repaired") else { return }
            let count = Self.passesCount.wrappingAdd(1, ordering: .relaxed).newValue
            precondition(count != pass, "poison")
        }
    }

    struct Count: Codable, Equatable, Sendable {
        var count = 0
        var text = ""
        /// Traps when the state is encoded.
        var poison: Poison?

        static func == (one: Count, other: Count) -> Bool { one.count == other.count && one.text == other.text }

        func encode(to encoder: any Encoder) throws {
            poison?.reach(.state)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(count, forKey: .count)
            try container.encode(text, forKey: .text)
        }

        private enum CodingKeys: CodingKey { case count, text }
    }

    private static func beDeaf() async -> Never {
        await runUntilSignal {
            print("ready")
            fflush(nil)
            // Blocks its thread, as in a program that sends what a person types.
            while readLine() != nil {}
        }
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.dropFirst() == ["deaf"] { await beDeaf() }
        if arguments.dropFirst() == ["refused"] { await runUntilSignal { throw Rejection(.refused, "not now") } }
        let middleware = Middleware<Count> { action, _, next in
            (action as? Poison)?.reach(.middleware)
            return try next(action)
        }
        let primary = try Primary(
            store: "poison",
            state: Count(),
            actions: [Counted.self, Unpublishable.self, Poison.self],
            middleware: arguments.contains("middleware") ? [middleware] : [],
            journal: SQLiteJournal(at: arguments[1]),
            configuration: PrimaryConfiguration(publish: arguments[2], actions: arguments[3])
        ) { state, action in
            state.count += 1
            if action is Unpublishable { state.text = String(repeating: " ", count: 2 << 20) }
            guard let poison = action as? Poison else { return }
            poison.reach(.reducer)
            state.poison = poison
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await primary.run() }
            let address = try await primary.address
            print("ready store=poison publish=\(address.publish) actions=\(address.actions)")
            fflush(nil)
            try await group.waitForAll()
        }
    }
}
