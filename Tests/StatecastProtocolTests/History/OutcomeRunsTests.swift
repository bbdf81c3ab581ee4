import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

/// The outcomes of consecutive actions as a plain list: what ``OutcomeRuns`` must equal.
private struct OutcomeList {
    var start: UInt64
    var outcomes: [Outcome] = []

    var end: UInt64 { start + UInt64(outcomes.count) }

    mutating func trim(before number: UInt64) {
        let count = max(start, min(number, end)) - start
        outcomes.removeFirst(Int(count))
        start += count
    }

    mutating func rewind(to number: UInt64) { outcomes.removeLast(Int(end - min(end, max(start, number)))) }

    func slice(from first: UInt64, through last: UInt64) -> OutcomeList {
        var slice = self
        slice.rewind(to: last + 1)
        slice.trim(before: first)
        return slice
    }

    mutating func dropMessages(through last: UInt64, maxBytes: Int) {
        for index in outcomes.indices where messageBytes > maxBytes && start + UInt64(index) <= last {
            guard case .rejected(let rejection) = outcomes[index] else { continue }
            outcomes[index] = .rejected(Rejection(rejection.code, ""))
        }
    }

    var messageBytes: Int {
        outcomes.reduce(0) { bytes, outcome in
            if case .rejected(let rejection) = outcome { bytes + rejection.message.utf8.count } else { bytes }
        }
    }

    /// The same outcomes, appended one by one.
    var runs: OutcomeRuns {
        var runs = OutcomeRuns(first: ActionNumber(start))
        for outcome in outcomes { runs.append(outcome) }
        return runs
    }
}

extension OutcomeRuns {
    fileprivate var encoded: [UInt8] {
        var writer = CBORWriter()
        write(to: &writer)
        return writer.bytes
    }

    fileprivate init(
        decoding bytes: [UInt8],
        first: UInt64 = 1,
        maxRuns: Int = Limits.maxReceiptRuns
    ) throws(CodingFailure) {
        var reader = CBORReader(bytes)
        try self.init(from: &reader, first: ActionNumber(first), maxRuns: maxRuns)
        try reader.requireEnd()
    }
}

extension SeededGenerator {
    /// Rejections of which some are equal, and some have no message.
    fileprivate mutating func someRejection() -> Rejection {
        Rejection(oneIn(3) ? .refused : .swallowed, ["", "no", "not today"][below(3)])
    }

    /// Outcomes that begin at a number and lie in a few runs.
    fileprivate mutating func someRuns(from first: UInt64) -> OutcomeRuns {
        var runs = OutcomeRuns(first: ActionNumber(first))
        var revision = UInt64(below(50))
        for _ in 0..<below(8) {
            let count = 1 + below(6)
            guard oneIn(2) else {
                runs.append(.rejected(someRejection()), count: count)
                continue
            }
            revision += UInt64(below(3))
            runs.append(.applied(Revision(revision)), count: count)
            revision += UInt64(count)
        }
        return runs
    }
}

@Suite struct `Runs of outcomes` {
    @Test(arguments: seeds(0..<500)) func `Runs of outcomes equal plain lists after any changes`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var runs = OutcomeRuns(first: ActionNumber(1))
        var list = OutcomeList(start: 1)
        var revision: UInt64 = 0
        for step in 0..<200 {
            // Within the list, at its ends, and beyond them.
            let number = UInt64(max(0, Int(list.start) - 3 + generator.below(list.outcomes.count + 7)))
            switch generator.below(10) {
            case 0...2:
                // Revisions continue, or leave a gap: other sessions have actions, too.
                revision += generator.oneIn(3) ? 2 : 1
                runs.append(.applied(Revision(revision)))
                list.outcomes.append(.applied(Revision(revision)))
            case 3:
                let rejection = generator.someRejection()
                runs.append(.rejected(rejection))
                list.outcomes.append(.rejected(rejection))
            case 4:
                let count = generator.below(9)
                runs.append(.applied(Revision(revision + 1)), count: count)
                for index in 0..<count { list.outcomes.append(.applied(Revision(revision + 1 + UInt64(index)))) }
                revision += UInt64(count)
            case 5:
                let (count, rejection) = (generator.below(9), generator.someRejection())
                runs.append(.rejected(rejection), count: count)
                list.outcomes += Array(repeating: Outcome.rejected(rejection), count: count)
            case 6:
                let more = generator.someRuns(from: list.end)
                runs.append(contentsOf: more)
                list.outcomes += more.list
            case 7:
                runs.removeOutcomes(before: ActionNumber(number))
                list.trim(before: number)
            case 8:
                runs.removeOutcomes(from: ActionNumber(number))
                list.rewind(to: number)
            default:
                let maxBytes = generator.below(40)
                runs.dropMessages(through: ActionNumber(number), maxBytes: maxBytes)
                list.dropMessages(through: number, maxBytes: maxBytes)
            }
            expectEqual(runs, list, "seed \(seed), step \(step)")
        }
    }

    private func expectEqual(
        _ runs: OutcomeRuns,
        _ list: OutcomeList,
        _ place: Comment,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(runs.list == list.outcomes, place, sourceLocation: sourceLocation)
        #expect(runs.start.rawValue == list.start, place, sourceLocation: sourceLocation)
        #expect(runs.end.rawValue == list.end, place, sourceLocation: sourceLocation)
        #expect(runs.count == list.outcomes.count, place, sourceLocation: sourceLocation)
        #expect(runs.isEmpty == list.outcomes.isEmpty, place, sourceLocation: sourceLocation)
        #expect(runs.messageBytes == list.messageBytes, place, sourceLocation: sourceLocation)
        // The runs are the fewest possible.
        #expect(runs == list.runs, place, sourceLocation: sourceLocation)
        #expect(runs.runCount == runs.runs.count, place, sourceLocation: sourceLocation)
    }

    @Test(arguments: seeds(0..<200))
    func `Runs of outcomes are found, sliced, split and joined like plain lists`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let runs = generator.someRuns(from: UInt64(generator.below(20)))
        let list = OutcomeList(start: runs.start.rawValue, outcomes: runs.list)
        for number in 0..<(list.end + 3) {
            let isKnown = number >= list.start && number < list.end
            let expected = isKnown ? list.outcomes[Int(number - list.start)] : nil
            #expect(runs.outcome(of: ActionNumber(number)) == expected, "seed \(seed), number \(number)")
            let (before, after) = runs.split(at: ActionNumber(number))
            let border = min(list.end, max(list.start, number))
            #expect(before.end == ActionNumber(border) && after.start == before.end)
            expectEqual(after, list.slice(from: border, through: list.end), "seed \(seed), split at \(number)")
            var joined = before
            joined.append(contentsOf: after)
            #expect(joined == runs, "seed \(seed), joined at \(number)")
        }
        for _ in 0..<50 {
            let first = UInt64(generator.below(Int(list.end) + 3))
            let last = first + UInt64(generator.below(20))
            let slice = runs.slice(from: ActionNumber(first), through: ActionNumber(last))
            let place: Comment = "seed \(seed), from \(first) to \(last)"
            #expect(slice.list == list.slice(from: first, through: last).outcomes, place)
            let expected = min(list.end, max(list.start, first))
            #expect(slice.start == ActionNumber(expected), place)
        }
    }

    @Test func `Runs of outcomes are joined where outcomes continue, and only there`() {
        var runs = OutcomeRuns(first: ActionNumber(7))
        runs.append(.applied(Revision(3)))
        runs.append(.applied(Revision(4)), count: 10)
        #expect(runs.runCount == 1)
        runs.append(.applied(Revision(15)))
        #expect(runs.runCount == 2)
        runs.append(.rejected(Rejection(.refused, "no")), count: 2)
        runs.append(.rejected(Rejection(.refused, "no")))
        #expect(runs.runCount == 3)
        runs.append(.rejected(Rejection(.swallowed, "no")))
        runs.append(.rejected(Rejection(.swallowed, "never")))
        #expect(runs.runCount == 5)
        runs.dropMessages(through: ActionNumber(.max), maxBytes: 0)
        #expect(runs.runCount == 4)
        #expect(runs.count == 17)
        #expect(runs.outcome(of: ActionNumber(17)) == .applied(Revision(13)))
        #expect(runs.outcome(of: ActionNumber(18)) == .applied(Revision(15)))
        #expect(runs.outcome(of: ActionNumber(21)) == .rejected(Rejection(.refused, "")))
        #expect(runs.outcome(of: ActionNumber(24)) == nil)
    }

    @Test func `Runs of outcomes lose as many of the oldest messages as needed, up to a number`() {
        let rejection = Rejection(.refused, "0123456789")
        func left(through last: UInt64, maxBytes: Int) -> Int {
            var runs = OutcomeRuns(first: ActionNumber(1))
            runs.append(.rejected(rejection), count: 10)
            runs.dropMessages(through: ActionNumber(last), maxBytes: maxBytes)
            return runs.messageBytes / 10
        }
        #expect(left(through: 10, maxBytes: 100) == 10)
        #expect(left(through: 10, maxBytes: 99) == 9)
        #expect(left(through: 10, maxBytes: 90) == 9)
        #expect(left(through: 10, maxBytes: 89) == 8)
        #expect(left(through: 3, maxBytes: 0) == 7)
        #expect(left(through: 0, maxBytes: 0) == 10)
        #expect(left(through: .max, maxBytes: 0) == 0)
    }

    /// A sender may alternate its outcomes, and a part of a batch may be one action: what is searched for each part
    /// must not depend on what the session remembers.
    @Test(arguments: seeds(0..<100))
    func `Runs of outcomes search each run for messages once, however many drops there are`(
        seed: UInt64
    ) {
        var generator = SeededGenerator(seed: seed)
        var runs = OutcomeRuns(first: ActionNumber(1))
        let maxBytes = generator.below(200)
        // Some outcomes with messages are not durable yet, so that there is always an excess.
        let delay = UInt64(generator.below(30))
        var searched = 0
        for number in UInt64(1)...1000 {
            runs.append(
                generator.oneIn(3)
                    ? .applied(Revision(2 * number)) : .rejected(Rejection(.refused, "\(generator.below(2))"))
            )
            runs.append(.rejected(Rejection(.swallowed, number % 50 == 0 ? String(repeating: "x", count: 300) : "")))
            if runs.count > 800 { runs.removeOutcomes(before: runs.start.advanced(by: 2)) }
            searched += runs.dropMessages(through: ActionNumber(max(delay, 2 * number) - delay), maxBytes: maxBytes)
        }
        // Of each drop, the run before the first message, and one that is searched and has to keep its message.
        #expect(searched <= 2000 + 2 * 1000, "seed \(seed)")
    }
}

@Suite struct `Encoded runs of outcomes` {
    private static let lists: [[UInt8]] = [
        // 1, 2, 3
        [0x83, 0x01, 0x02, 0x03],
        // 5, ["a", "b"], ["a", "b"]
        [0x83, 0x05, 0x82, 0x61, 0x61, 0x61, 0x62, 0x82, 0x61, 0x61, 0x61, 0x62],
    ]

    @Test(arguments: seeds(0..<300)) func `Encoded runs of outcomes decode to the encoded value`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let runs = generator.someRuns(from: UInt64(generator.below(1000)))
        #expect(try OutcomeRuns(decoding: runs.encoded, first: runs.start.rawValue) == runs)
    }

    @Test func `Encoded runs of outcomes have the documented form`() {
        var runs = OutcomeRuns(first: ActionNumber(7))
        #expect(runs.encoded == [0x80])
        runs.append(.applied(Revision(3)))
        runs.append(.rejected(Rejection(Rejection.Code(rawValue: "a"), "b")))
        runs.append(.applied(Revision(4)), count: 24)
        runs.append(.rejected(Rejection(Rejection.Code(rawValue: "a"), "")), count: 2)
        let expected: [UInt8] = [
            0x84, 0x03, 0x82, 0x61, 0x61, 0x61, 0x62, 0x82, 0x18, 0x18, 0x04, 0x83, 0x02, 0x61, 0x61, 0x60,
        ]
        #expect(runs.encoded == expected)
    }

    @Test(arguments: zip(lists, [1, 2]))
    func `Encoded runs of outcomes may be lists of single outcomes`(list: [UInt8], runCount: Int) throws {
        let runs = try OutcomeRuns(decoding: list)
        #expect(runs.count == 3)
        #expect(runs.runCount == runCount)
    }

    @Test func `Encoded runs of outcomes are at most maxRuns, after they are joined`() throws {
        for count in 1...3 {
            var writer = CBORWriter()
            writer.array(count: count)
            for index in 0..<count { writer.unsigned(UInt64(2 * index)) }
            let bytes = writer.bytes
            #expect(try OutcomeRuns(decoding: bytes, maxRuns: count).runCount == count)
            let failure = #expect(throws: CodingFailure.self) {
                try OutcomeRuns(decoding: bytes, maxRuns: count - 1)
            }
            #expect(failure?.code == .tooLarge)
        }
        var writer = CBORWriter()
        writer.array(count: 1000)
        for index in 0..<1000 { writer.unsigned(UInt64(index)) }
        let bytes = writer.bytes
        #expect(try OutcomeRuns(decoding: bytes, maxRuns: 1).count == 1000)
    }

    @Test(
        arguments: [
            // Not an array; an item of another kind; an empty, a short and a long array.
            [0x01], [0x81, 0x61, 0x61], [0x81, 0x80], [0x81, 0x81, 0x01], [0x81, 0x84, 0x02, 0x61, 0x61, 0x60, 0x00],
            // Runs of 0 actions and of 1, a revision as a text, a message as a number.
            [0x81, 0x82, 0x00, 0x01], [0x81, 0x82, 0x01, 0x01], [0x81, 0x82, 0x02, 0x60],
            [0x81, 0x83, 0x02, 0x60, 0x01],
            // More elements than bytes, and a run of 2^63 actions.
            [0x9A, 0x00, 0x01, 0x00, 0x00], [0x81, 0x82, 0x1B, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x01],
        ] as [[UInt8]]
    )
    func `Encoded runs of outcomes that are malformed throw`(bytes: [UInt8]) {
        #expect(throws: CodingFailure.self) { try OutcomeRuns(decoding: bytes) }
    }

    @Test(arguments: [0, 1, 1 << 62, .max - 1, .max] as [UInt64])
    func `Encoded runs of outcomes with any numbers never trap`(first: UInt64) {
        let counts: [UInt64] = [2, 1 << 32, UInt64(Int64.max) - 1, UInt64(Int64.max), .max]
        for (count, second) in counts.flatMap({ count in counts.map { (count, $0) } }) {
            for revision in [0, 1, .max - 1, .max] as [UInt64] {
                var writer = CBORWriter()
                writer.array(count: 4)
                writer.array(count: 2)
                writer.unsigned(count)
                writer.unsigned(revision)
                writer.array(count: 2)
                writer.unsigned(second)
                writer.unsigned(revision &+ count)
                for text in ["", "message"] {
                    writer.array(count: 3)
                    writer.unsigned(second)
                    writer.text("code")
                    writer.text(text)
                }
                guard var runs = try? OutcomeRuns(decoding: writer.bytes, first: first) else { continue }
                #expect(runs.end > runs.start)
                for number in [0, first, first &+ 1, first &+ count, .max - 1, .max] as [UInt64] {
                    let (before, after) = runs.split(at: ActionNumber(number))
                    #expect(before.end == after.start)
                    #expect(runs.slice(from: ActionNumber(number), through: ActionNumber(.max)).end == runs.end)
                }
                runs.dropMessages(through: ActionNumber(.max), maxBytes: 0)
                #expect(runs.messageBytes == 0)
            }
        }
    }

    @Test(arguments: seeds(0..<200))
    func `Encoded runs of outcomes in parts keep the limits of each part, and are complete`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let runs = generator.someRuns(from: 1)
        let (maxBytes, maxRuns) = (generator.below(200), 1 + generator.below(4))
        var joined = OutcomeRuns(first: runs.start)
        for part in runs.parts(maxBytes: maxBytes, maxRuns: maxRuns) {
            #expect(!part.isEmpty && part.runCount <= maxRuns, "seed \(seed)")
            #expect(part.runCount == 1 || part.encoded.count <= maxBytes, "seed \(seed)")
            joined.append(contentsOf: part)
        }
        #expect(joined == runs, "seed \(seed)")
        #expect(OutcomeRuns(first: ActionNumber(1)).parts(maxBytes: maxBytes, maxRuns: maxRuns).isEmpty)
    }
}
