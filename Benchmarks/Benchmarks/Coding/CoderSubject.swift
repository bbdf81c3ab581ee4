import Benchmark
import CodingSubjects
import Measuring

/// One coder with one value, and with its bytes.
struct CoderSubject<Subject: Coder, Coded: Codable & Equatable> {
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
