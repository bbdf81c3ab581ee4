import Foundation
import SQLiteJournal
import Statecast

/// A primary with an action that ends the process: `poison-primary JOURNAL PUBLISH ACTIONS`.
@main
enum PoisonPrimary {
    struct Counted: Action {}

    struct Poison: Action {
        /// Where it ends the process.
        enum Place: String, Codable { case decoding, middleware, reducer }

        let place: Place

        // The schema's example must not be decoded.
        static let example: Self? = Self(place: .reducer)

        private init(place: Place) { self.place = place }

        init(from decoder: any Decoder) throws {
            place = try decoder.container(keyedBy: CodingKeys.self).decode(Place.self, forKey: .place)
            endProcess(in: .decoding)
        }

        func endProcess(in place: Place) { if self.place == place { kill(getpid(), SIGKILL) } }

        private enum CodingKeys: CodingKey { case place }
    }

    struct Count: Codable, Equatable, Sendable {
        var count = 0
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        let primary = try Primary(
            store: "poison",
            state: Count(),
            actions: [Counted.self, Poison.self],
            middleware: [
                Middleware { action, _, next in
                    (action as? Poison)?.endProcess(in: .middleware)
                    return try next(action)
                }
            ],
            journal: SQLiteJournal(at: arguments[1]),
            configuration: PrimaryConfiguration(publish: arguments[2], actions: arguments[3])
        ) { state, action in
            (action as? Poison)?.endProcess(in: .reducer)
            state.count += 1
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await primary.run() }
            let address = try await primary.address
            let position = await primary.position.map { "epoch=\($0.epoch) revision=\($0.revision)" } ?? ""
            print("ready store=poison \(position) publish=\(address.publish) actions=\(address.actions)")
            fflush(nil)
            try await group.waitForAll()
        }
    }
}
