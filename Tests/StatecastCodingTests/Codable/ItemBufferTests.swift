import StatecastCoding
import Testing

@Suite struct `Items of a buffer` {
    /// Values of all shapes in one array of bytes, some of them damaged.
    @Test(arguments: seeds(0..<300))
    func `Items of a buffer are decoded, and fail, as copies of their bytes do`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var bytes: [UInt8] = Array(repeating: 0xFF, count: generator.below(4))
        var items: [(type: any (Codable & Sendable).Type, range: Range<Int>)] = []
        for _ in 0..<20 {
            let item = item(from: &generator)
            items.append((generator.pick(Laws.shapes + [Alternatives.self]), bytes.count..<(bytes.count + item.count)))
            bytes += item
        }
        let slice = bytes[generator.below(3)...]
        try ItemBuffer.withItems(slice) { buffer throws(BrokenLaw) in
            for item in items {
                let range = (item.range.lowerBound - slice.startIndex)..<(item.range.upperBound - slice.startIndex)
                guard range.lowerBound >= 0 else { continue }
                try check(item.type, buffer, range, copy: Array(bytes[item.range]))
            }
        }
    }

    private func check<T: Codable & Sendable>(
        _ type: T.Type,
        _ buffer: borrowing ItemBuffer,
        _ range: Range<Int>,
        copy: [UInt8]
    ) throws(BrokenLaw) {
        let copied = buffer.copy(of: range)
        #expect(copied == copy)
        let alone = Result { () throws(CodingFailure) in
            try StateDecoder(acceptsJSONForms: true).decode(type, from: copy)
        }
        let read: Result<T, CodingFailure>
        do throws(CodingFailure) {
            read = .success(try buffer.decode(type, at: range))
        } catch {
            read = .failure(error)
        }
        switch (read, alone) {
        case (.success(let left), .success(let right)): #expect(try Laws.encoding(left) == Laws.encoding(right))
        case (.failure(let left), .failure(let right)): #expect(left == right)
        default: Issue.record("\(type) from \(copy): \(read), alone \(alone)")
        }
    }

    /// An encoded value of some shape, or a part of one, or one with other bytes or an other form.
    private func item(from generator: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8]
        switch generator.below(6) {
        case 0:
            var world = World()
            generator.change(&world)
            bytes = (try? StateEncoder().encode(world)) ?? []
        case 1: bytes = [0x9F] + generator.value().encoded + [0xFF]
        case 2: bytes = Value.text(generator.below(2) == 0 ? "2026-01-02T03:04:05Z" : "other").encoded
        case 3: bytes = Value.array([.float(3), .unsigned(1)]).encoded
        default: bytes = generator.value().encoded
        }
        switch generator.below(4) {
        case 0: bytes = bytes.dropLast(generator.below(bytes.count + 1))
        case 1: bytes[generator.below(bytes.count)] = UInt8(generator.below(256))
        default: break
        }
        return bytes
    }

    @Test func `Items of a buffer that are empty, or have trailing bytes, fail at their own offsets`() throws {
        let bytes = [UInt8](repeating: 0, count: 10)
        let failures = ItemBuffer.withItems(bytes[4...]) { buffer in
            [3..<3, 3..<5, 3..<4].map { failure(buffer, $0) }
        }
        let empty = CodingFailure(.truncated, "expected an item, but the input ends", offset: 0)
        let trailing = CodingFailure(.trailingBytes, "expected the end, but 1 bytes follow", offset: 1)
        #expect(failures == [empty, trailing, nil])
    }

    private func failure(_ buffer: borrowing ItemBuffer, _ range: Range<Int>) -> CodingFailure? {
        do throws(CodingFailure) { _ = try buffer.decode(Int.self, at: range) } catch { return error }
        return nil
    }

    @Test func `Items of a buffer begin with a prefix only if it fits them`() {
        let answers = ItemBuffer.withItems([9, 1, 2, 3][1...]) { buffer in
            [
                buffer.hasPrefix([1, 2], at: 0..<3), buffer.hasPrefix([1, 2], at: 0..<2),
                buffer.hasPrefix([3], at: 2..<3), buffer.hasPrefix([], at: 1..<1),
                buffer.hasPrefix([1, 2], at: 0..<1), buffer.hasPrefix([1, 3], at: 0..<3),
                buffer.hasPrefix([3], at: 3..<3),
            ]
        }
        #expect(answers == [true, true, true, true, false, false, false])
    }
}

/// Tries several forms, as `Codable` types with alternatives do. A text serves as a date only if nothing else reads it.
private enum Alternatives: Codable {
    case floats([Double])
    case numbers([Int])
    case text(String)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let numbers = try? container.decode([Int].self) {
            self = .numbers(numbers)
        } else if let floats = try? container.decode([Double].self) {
            self = .floats(floats)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .floats(let floats): try container.encode(floats)
        case .numbers(let numbers): try container.encode(numbers)
        case .text(let text): try container.encode(text)
        }
    }
}
