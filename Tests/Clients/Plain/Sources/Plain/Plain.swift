import Statecast

struct Counter: Codable, Equatable, Sendable { var value = 0 }
struct Increase: Action {}

@main
struct Plain {
    static func main() async throws {
        let primary = try Primary(
            store: "counter",
            state: Counter(),
            actions: [Increase.self],
            configuration: PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*")
        ) { counter, _ in counter.value += 1 }
        try await withPrimary(primary) { primary in
            try await primary.send(Increase())
            print(primary.state.value, await primary.revision)
        }
    }
}
