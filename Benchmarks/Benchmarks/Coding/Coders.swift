import Benchmark
import CodingSubjects
import Comparing
import Measuring

/// Registers two benchmarks, of encoding and of decoding, Foundation's JSON first.
///
/// - Parameters:
///   - count: the repetitions in a sample.
///   - duration: of each benchmark.
///   - value: makes the value, for both subjects.
func compareCoders<Coded: Codable & Equatable>(
    _ name: String,
    count: Int,
    duration: Duration = .seconds(3),
    _ value: @escaping @Sendable () -> Coded
) {
    compareCoders(name, count: count, duration: duration, json: value, value)
}

/// As above, with another type for Foundation's JSON.
func compareCoders<JSON: Codable & Equatable, Coded: Codable & Equatable>(
    _ name: String,
    count: Int,
    duration: Duration = .seconds(3),
    json: @escaping @Sendable () -> JSON,
    _ value: @escaping @Sendable () -> Coded
) {
    let reference = Lazy { CoderSubject<FoundationJSON, JSON>(json()) }
    let subject = Lazy { CoderSubject<Statecast, Coded>(value()) }
    compare(
        "\(name), encode",
        duration: duration,
        by: \.processor,
        [
            Subject("Foundation JSON") { reference.value.encode(count) },
            Subject("Statecast") { subject.value.encode(count) },
        ]
    )
    compare(
        "\(name), decode",
        duration: duration,
        by: \.processor,
        [
            Subject("Foundation JSON") { reference.value.decode(count) },
            Subject("Statecast") { subject.value.decode(count) },
        ]
    )
}

/// A coder with a value and its bytes.
private struct CoderSubject<Subject: Coder, Coded: Codable & Equatable> {
    private let coder = Subject()
    private let value: Coded
    private let bytes: Subject.Bytes

    init(_ value: Coded) {
        let coder = coder
        let bytes = succeed { try coder.encode(value) }
        precondition(succeed { try coder.decode(Coded.self, from: bytes) } == value, "the value must survive")
        self.value = value
        self.bytes = bytes
    }

    func encode(_ count: Int) -> Cost {
        .each(of: count) {
            for _ in 0..<count { blackHole(succeed { try coder.encode(value) }) }
        }
    }

    func decode(_ count: Int) -> Cost {
        .each(of: count) {
            for _ in 0..<count { blackHole(succeed { try coder.decode(Coded.self, from: bytes) }) }
        }
    }
}
