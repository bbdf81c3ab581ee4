/// Whole items of any shape, indefinite lengths included.
extension CBORReader {
    /// The next item as a value.
    ///
    /// - Throws: `tooDeep`, `duplicateKey` and `invalidText`, besides what reading single items throws.
    package mutating func value() throws(CodingFailure) -> Value {
        try value(depth: 0)
    }

    /// Passes over the next item, checking that it is well-formed. (Duplicate keys are not looked for.)
    package mutating func skip() throws(CodingFailure) {
        try skip(depth: 0)
    }

    /// The bytes of the next item, checked as by `skip()`.
    package mutating func encodedItem() throws(CodingFailure) -> [UInt8] {
        let start = offset
        try skip()
        return Array(read(since: start))
    }

    mutating func value(depth: Int) throws(CodingFailure) -> Value {
        switch try nextKind() {
        case .unsigned: return .unsigned(try unsigned())
        case .negative: return .negative(try argument(of: .negative, "an integer"))
        case .bool: return .bool(try bool())
        case .float: return .float(try float())
        case .null:
            try null()
            return .null
        case .bytes: return .bytes(try isIndefinite ? chunks(of: .bytes) : bytes())
        case .text: return .text(try isIndefinite ? joinedText() : text())
        case .tag:
            let inner = try deeper(depth)
            let number = try tag()
            return .tagged(number, try value(depth: inner))
        case .array: return .array(try elements(depth: deeper(depth)))
        case .map: return .map(try entries(depth: deeper(depth)))
        case .other: throw unknownSimpleValue
        }
    }

    private mutating func skip(depth: Int) throws(CodingFailure) {
        let kind = try nextKind()
        switch kind {
        case .unsigned, .negative: _ = try argument(of: kind, "an integer")
        case .bool: _ = try bool()
        case .float: _ = try float()
        case .null: try null()
        case .bytes: if isIndefinite { _ = try chunks(of: .bytes) } else { _ = try content(of: .bytes, "bytes") }
        case .text: _ = try isIndefinite ? joinedText() : text()
        case .tag:
            let inner = try deeper(depth)
            _ = try tag()
            try skip(depth: inner)
        case .array, .map:
            let inner = try deeper(depth)
            let perEntry = kind == .map ? 2 : 1
            if isIndefinite {
                skipInitialByte()
                while try !atBreak() {
                    for _ in 0..<perEntry { try skip(depth: inner) }
                }
            } else {
                let count = try kind == .map ? mapCount() : arrayCount()
                for _ in 0..<(count * perEntry) { try skip(depth: inner) }
            }
        case .other: throw unknownSimpleValue
        }
    }

    private mutating func elements(depth: Int) throws(CodingFailure) -> [Value] {
        var elements: [Value] = []
        if isIndefinite {
            skipInitialByte()
            while try !atBreak() { elements.append(try value(depth: depth)) }
        } else {
            let count = try arrayCount()
            elements.reserveCapacity(reserve(count, bytesEach: 1))
            for _ in 0..<count { elements.append(try value(depth: depth)) }
        }
        return elements
    }

    private mutating func entries(depth: Int) throws(CodingFailure) -> ValueMap {
        let start = offset
        var entries: [(key: Value, element: Value)] = []
        if isIndefinite {
            skipInitialByte()
            while try !atBreak() { entries.append((try value(depth: depth), try value(depth: depth))) }
        } else {
            let count = try mapCount()
            entries.reserveCapacity(reserve(count, bytesEach: 2))
            for _ in 0..<count { entries.append((try value(depth: depth), try value(depth: depth))) }
        }
        do throws(CodingFailure) {
            return try ValueMap(unique: entries)
        } catch {
            throw CodingFailure(error.code, error.message, offset: start)
        }
    }

    /// Strings of indefinite length come as chunks of their own kind, each with its length.
    private mutating func chunks(of kind: CBORKind) throws(CodingFailure) -> [UInt8] {
        var result: [UInt8] = []
        skipInitialByte()
        while try !atBreak() { result.append(contentsOf: try content(of: kind, "a chunk of \(kind.words)")) }
        return result
    }

    private mutating func joinedText() throws(CodingFailure) -> String {
        let start = offset
        var result = ""
        skipInitialByte()
        while try !atBreak() { result += try text() }
        try checkMarks(of: result, from: start)
        return result
    }

    private var isIndefinite: Bool { nextByte.map { $0 & 0x1F == Self.indefinite } ?? false }

    private mutating func skipInitialByte() { move(to: offset + 1) }

    private func nextKind() throws(CodingFailure) -> CBORKind {
        guard let kind = peek else { throw failure(.truncated, "expected an item, but the input ends") }
        return kind
    }

    private mutating func atBreak() throws(CodingFailure) -> Bool {
        guard let byte = nextByte else { throw failure(.truncated, "expected an item or a break, but the input ends") }
        guard byte == Self.breakByte else { return false }
        skipInitialByte()
        return true
    }

    func deeper(_ depth: Int) throws(CodingFailure) -> Int {
        guard depth < limits.depthMax else {
            throw failure(.tooDeep, "expected at most \(limits.depthMax) levels, got more")
        }
        return depth + 1
    }

    private var unknownSimpleValue: CodingFailure {
        let byte = nextByte.map { String($0, radix: 16) } ?? "nothing"
        return failure(.malformed, "expected an item, got 0x\(byte), a break out of place or an unknown simple value")
    }
}
