/// A recursive-descent parser of RFC 8259, bounded in depth.
struct JSONParser {
    private let input: [UInt8]
    private var position = 0
    private let limits: CodingLimits

    init(_ input: [UInt8], limits: CodingLimits) {
        self.input = input
        self.limits = limits
    }

    mutating func document() throws(CodingFailure) -> Value {
        let value = try value(depth: 0)
        skipSpace()
        guard position == input.count else { throw failure(.trailingBytes, "expected the end, got more text") }
        return value
    }

    private mutating func value(depth: Int) throws(CodingFailure) -> Value {
        skipSpace()
        switch try next("a value") {
        case UInt8(ascii: "{"): return .map(try object(depth: deeper(depth)))
        case UInt8(ascii: "["): return .array(try array(depth: deeper(depth)))
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case let other: throw failure(.malformed, "expected a value, got \(Self.name(other))")
        }
    }

    private mutating func object(depth: Int) throws(CodingFailure) -> ValueMap {
        let start = position
        var entries: [(key: Value, element: Value)] = []
        position += 1
        skipSpace()
        if take("}") { return ValueMap() }
        repeat {
            skipSpace()
            let keyStart = position
            guard try next("a key in quotes") == UInt8(ascii: "\"") else {
                throw failure(.malformed, "expected a key in quotes, got \(Self.name(input[keyStart]))")
            }
            let key = Value.text(try string())
            skipSpace()
            guard take(":") else { throw try unexpected("a colon after the key") }
            entries.append((key, try value(depth: depth)))
            skipSpace()
        } while take(",")
        guard take("}") else { throw try unexpected("a comma or }") }
        do throws(CodingFailure) {
            return try ValueMap(unique: entries)
        } catch {
            throw failure(error.code, error.message, at: start)
        }
    }

    private mutating func array(depth: Int) throws(CodingFailure) -> [Value] {
        var elements: [Value] = []
        position += 1
        skipSpace()
        if take("]") { return [] }
        repeat {
            elements.append(try value(depth: depth))
            skipSpace()
        } while take(",")
        guard take("]") else { throw try unexpected("a comma or ]") }
        return elements
    }

    // MARK: Numbers

    private mutating func number() throws(CodingFailure) -> Value {
        let start = position
        var isInteger = true
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") {
            isInteger = false
            try digits()
        }
        if take("e") || take("E") {
            isInteger = false
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = String(decoding: input[start..<position], as: UTF8.self)
        if isInteger, let integer = Self.integer(text) { return integer }
        guard let value = Double(text), value.isFinite else {
            throw failure(.outOfRange, "expected a number that 64 bits can hold, got a larger one", at: start)
        }
        return Self.exact(text, isInteger: isInteger, nearest: value)
    }

    /// The integer, if it has a plain one in CBOR.
    private static func integer(_ text: String) -> Value? {
        if let unsigned = UInt64(text) { return .unsigned(unsigned) }
        guard text.hasPrefix("-"), let magnitude = UInt64(text.dropFirst()), magnitude > 0 else { return nil }
        return .negative(magnitude - 1)
    }

    /// The float, unless its shortest digits say another number: then the digits count.
    private static func exact(_ text: String, isInteger: Bool, nearest value: Double) -> Value {
        // A `Double` keeps 15 digits, wherever it has its full precision.
        if (text.utf8.count <= 16 && value.isNormal) || text == "\(value)" { return .float(value) }
        guard let number = DecimalNumber(text), number != DecimalNumber(.float(value)) else { return .float(value) }
        return isInteger ? number.integer ?? .float(value) : number.fraction
    }

    private mutating func digits() throws(CodingFailure) {
        let start = position
        while position < input.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(input[position]) {
            position += 1
        }
        if position == start { throw try unexpected("a digit") }
    }

    // MARK: Strings

    private mutating func string() throws(CodingFailure) -> String {
        let start = position
        position += 1
        var bytes: [UInt8] = []
        while true {
            switch try next("the end of the text") {
            case UInt8(ascii: "\""):
                position += 1
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw failure(.invalidText, "expected a text in UTF-8, got other bytes", at: start)
                }
                if text.hasTooManyMarks { throw failure(.invalidText, CodingFailure.tooManyMarks, at: start) }
                return text
            case UInt8(ascii: "\\"): bytes.append(contentsOf: try escape())
            case 0..<0x20: throw failure(.malformed, "expected a control character to be escaped")
            case let byte:
                bytes.append(byte)
                position += 1
            }
        }
    }

    private mutating func escape() throws(CodingFailure) -> [UInt8] {
        let start = position
        position += 1
        let escaped = try next("an escape")
        position += 1
        switch escaped {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [escaped]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            let first = try hexadecimal()
            var scalar = UInt32(first)
            if UTF16.isLeadSurrogate(first), take("\\"), take("u") {
                let second = try hexadecimal()
                if UTF16.isTrailSurrogate(second) {
                    scalar = 0x1_0000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
                }
            }
            guard let scalar = Unicode.Scalar(scalar) else {
                throw failure(.invalidText, "expected a pair of surrogates, got a lone one", at: start)
            }
            return Array(String(Character(scalar)).utf8)
        default:
            throw failure(.malformed, "expected an escape as in JSON, got \\\(Self.name(escaped))", at: start)
        }
    }

    private mutating func hexadecimal() throws(CodingFailure) -> UInt16 {
        var result: UInt16 = 0
        for _ in 0..<4 {
            let digit = try next("four hexadecimal digits")
            guard let value = Character(Unicode.Scalar(digit)).hexDigitValue else {
                throw try unexpected("four hexadecimal digits")
            }
            result = result << 4 | UInt16(value)
            position += 1
        }
        return result
    }

    // MARK: Characters

    private mutating func skipSpace() {
        while position < input.count, [0x20, 0x0A, 0x0D, 0x09].contains(input[position]) { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < input.count, input[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func word(_ word: StaticString, _ value: Value) throws(CodingFailure) -> Value {
        let text = Array("\(word)".utf8)
        guard input[position...].starts(with: text) else { throw failure(.malformed, "expected \(word)") }
        position += text.count
        return value
    }

    private func next(_ expected: String) throws(CodingFailure) -> UInt8 {
        guard position < input.count else { throw failure(.truncated, "expected \(expected), but the text ends") }
        return input[position]
    }

    private func unexpected(_ expected: String) throws(CodingFailure) -> CodingFailure {
        failure(.malformed, "expected \(expected), got \(Self.name(try next(expected)))")
    }

    private func deeper(_ depth: Int) throws(CodingFailure) -> Int {
        guard depth < limits.depthMax else {
            throw failure(.tooDeep, "expected at most \(limits.depthMax) levels, got more")
        }
        return depth + 1
    }

    private static func name(_ byte: UInt8) -> String {
        (0x21...0x7E).contains(byte) ? "\(Character(Unicode.Scalar(byte)))" : "byte 0x\(String(byte, radix: 16))"
    }

    private func failure(_ code: CodingFailure.Code, _ message: String, at place: Int? = nil) -> CodingFailure {
        let offset = place ?? position
        let before = input[..<offset]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // Columns are counted as a reader sees them: characters, not bytes.
        let column = String(decoding: input[lineStart..<offset], as: UTF8.self).count + 1
        return CodingFailure(code, "line \(line), column \(column): \(message)", offset: offset)
    }
}
