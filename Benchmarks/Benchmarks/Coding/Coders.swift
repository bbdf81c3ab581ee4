import CodingSubjects
import Comparing
import Measuring

/// Registers two benchmarks, of encoding and of decoding, Foundation's JSON first.
///
/// - Parameters:
///   - name: what is coded.
///   - count: how many times in a row.
///   - duration: for each of the two.
///   - value: makes it, when its turn has come; the same for both sides.
func compareCoders<Coded: Codable & Equatable>(
    _ name: String,
    count: Int,
    duration: Duration = .seconds(3),
    _ value: @escaping @Sendable () -> Coded
) {
    compareCoders(name, count: count, duration: duration, json: value, value)
}

/// As above, with a type for Foundation's side that suits JSON better.
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
