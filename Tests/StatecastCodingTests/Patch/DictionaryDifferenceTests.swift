import StatecastCoding
import Synchronization
import Testing

/// Entries are compared in the order of the dictionaries, which differs after insertions, removals and resizing.
// Serialized, as some tests count in static properties.
@Suite(.serialized) struct `The patch of a dictionary` {
    struct Row: Codable, Equatable {
        var title: String
        var count = 0

        init(_ number: Int) { title = number % 3 == 0 ? "row \(number)" : "a title of row \(number) on the heap" }
    }

    /// The same without `==`, so that encodings are compared.
    struct Plain: Codable { var row: Row }

    /// A key whose hash values collide.
    struct Crowded: Codable, Hashable {
        var number: Int

        init(_ number: Int) { self.number = number }
        init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(Int.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(number)
        }
        func hash(into hasher: inout Hasher) { hasher.combine(number % 4) }
    }

    @Test(arguments: seeds(0..<200))
    func `The patch of a dictionary is the difference of the trees, whatever the edits`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try checkEdits(&generator) { $0 }
        try checkEdits(&generator) { "key \($0)" }
        try checkEdits(&generator) { "a key on the heap: \($0)" }
        try checkEdits(&generator) { Crowded($0) }
    }

    private func checkEdits<Key: Codable & Hashable>(
        _ generator: inout SeededGenerator,
        _ key: (Int) -> Key
    ) throws {
        let size = generator.pick([0, 1, 2, 31, 32, 33, 64, 200])
        var old = Dictionary(uniqueKeysWithValues: (0..<size).map { (key($0), Row($0)) })
        for _ in 0..<6 {
            var new = old
            for _ in 0..<generator.pick([0, 1, 2, 5, size]) {
                let number = generator.below(2 * size + 2)
                switch generator.below(6) {
                case 0, 1: new[key(number)] = nil
                case 2: new[key(number)] = Row(number)
                case 3: new[key(number)] = Row(generator.below(10))
                case 4 where new.capacity < 1000: new.reserveCapacity(2 * new.capacity + 1)
                default: new[key(number)]?.count += 1
                }
            }
            if generator.below(4) == 0 { new = Dictionary(uniqueKeysWithValues: new.shuffled(using: &generator)) }
            let (before, after) = (try StateEncoder().value(of: old), try StateEncoder().value(of: new))
            let patch = try checkLaws(from: old, to: new)
            #expect(patch == Patch(from: before, to: after))
            let plain = try Differ.patch(from: old.mapValues(Plain.init), to: new.mapValues(Plain.init)).patch
            let trees = (
                try StateEncoder().value(of: old.mapValues(Plain.init)),
                try StateEncoder().value(of: new.mapValues(Plain.init))
            )
            #expect(plain == Patch(from: trees.0, to: trees.1))
            old = new
        }
    }

    /// A key that counts how often it is hashed.
    struct Counted: Codable, Hashable {
        static let hashes = Mutex(0)

        var number: Int

        init(_ number: Int) { self.number = number }
        init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(Int.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(number)
        }
        func hash(into hasher: inout Hasher) {
            Self.hashes.withLock { $0 += 1 }
            hasher.combine(number)
        }
    }

    @Test func `The patch of a dictionary looks up only keys near an insertion or a removal`() throws {
        let old = Dictionary(uniqueKeysWithValues: (0..<10_000).map { (Counted($0), Row($0)) })
        var new = old
        new[Counted(17)]?.count += 1
        new[Counted(18)] = nil
        new[Counted(10_000)] = Row(10_000)
        let hashes = Counted.hashes.withLock { $0 }
        let patch = try Differ.patch(from: old, to: new).patch
        #expect(Counted.hashes.withLock { $0 } - hashes < 500)
        #expect(
            patch.description
                == #"{"17":{"count":[1]},"18":null,"10000":[{"count":0,"title":"a title of row 10000 on the heap"}]}"#
        )
    }

    /// A row that counts how often it is compared.
    struct Compared: Codable, Equatable {
        static let comparisons = Mutex(0)

        var number: Int

        static func == (left: Compared, right: Compared) -> Bool {
            comparisons.withLock { $0 += 1 }
            return left.number == right.number
        }
    }

    struct Lists: Codable, Equatable {
        var byNumber: [Int: Compared]
        var inOrder: [Compared]
        var optional: [Int: Compared]?

        init(_ numbers: Range<Int>) {
            inOrder = numbers.map { Compared(number: $0) }
            byNumber = Dictionary(uniqueKeysWithValues: zip(numbers, inOrder))
            optional = byNumber
        }
    }

    /// A key that counts how often it is encoded.
    struct Encoded: Codable, Hashable {
        static let encodings = Atomic(0)
        let number: Int

        func encode(to encoder: any Encoder) throws {
            Self.encodings.add(1, ordering: .relaxed)
            var container = encoder.singleValueContainer()
            try container.encode(number)
        }
    }

    @Test func `The patch of a dictionary encodes no entry that stays, also of primitive contents`() throws {
        let old = Dictionary(uniqueKeysWithValues: (0..<10_000).map { (Encoded(number: $0), "text \($0)") })
        var new = old
        new[Encoded(number: 17)] = "another text"
        let before = Encoded.encodings.load(ordering: .relaxed)
        let patch = try Differ.patch(from: old, to: new).patch
        #expect(patch.description == #"{"17":["another text"]}"#)
        #expect(Encoded.encodings.load(ordering: .relaxed) - before == 1)
    }

    @Test
    func `The patch of a dictionary compares each entry once, and none of collections with shared storage`() throws {
        let old = Lists(0..<1000)
        for (change, patch) in [
            ({ $0.byNumber[17]?.number = -1 }, #"{"byNumber":{"17":{"number":[-1]}}}"#),
            ({ $0.optional?[17]?.number = -1 }, #"{"optional":{"17":{"number":[-1]}}}"#),
        ] as [((inout Lists) -> Void, String)] {
            var new = old
            change(&new)
            let comparisons = Compared.comparisons.withLock { $0 }
            #expect(try Differ.patch(from: old, to: new).patch.description == patch)
            // The changed entry is compared again to find its change.
            #expect(Compared.comparisons.withLock { $0 } - comparisons <= 1001)
        }
    }

    @Test func `elements with the same bytes are not compared at the ends of an array`() throws {
        let old = Lists(0..<1000)
        var new = old
        new.inOrder[500].number = -1
        let comparisons = Compared.comparisons.withLock { $0 }
        let patch = try Differ.patch(from: old, to: new).patch
        #expect(Compared.comparisons.withLock { $0 } - comparisons < 20)
        #expect(patch.description == #"{"inOrder":{"500":{"number":[-1]}}}"#)
    }

    /// Three bytes in memory.
    struct Triple: Codable, Equatable { var (first, second, third): (UInt8, Bool, UInt8) = (0, false, 0) }

    @Test(arguments: seeds(0..<50))
    func `The patch of a dictionary finds changed elements of each size in memory`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func check<Element: Codable & Equatable>(_ element: (Int) -> Element) throws {
            let count = 1 + generator.below(50)
            let old = (0..<count).map(element)
            for index in old.indices {
                var new = old
                new[index] = element(index + 1)
                #expect(try checkLaws(from: old, to: new) == Patch(from: value(of: old), to: value(of: new)))
                new = old
                new.remove(at: index)
                if index < new.count { new[generator.below(new.count - index) + index] = element(generator.below(50)) }
                #expect(try checkLaws(from: old, to: new) == Patch(from: value(of: old), to: value(of: new)))
            }
        }
        func value(of state: some Encodable) throws -> Value { try StateEncoder().value(of: state) }
        try check { $0 }
        try check { $0 % 2 == 0 }
        try check { Int8($0 / 2) }
        try check { UInt16(truncatingIfNeeded: $0) << 8 }
        try check { Triple(first: 1, second: $0 % 3 == 0, third: UInt8(truncatingIfNeeded: $0)) }
        try check { Row($0) }
        try check { [Row($0)] }
        try check { $0 % 2 == 0 ? nil : UInt32($0) }
    }

    @Test func `equal collections with other storage have no patch`() throws {
        let (old, new) = (Lists(0..<100), Lists(0..<100))
        #expect(try checkLaws(from: old, to: new).isEmpty)
    }
}
