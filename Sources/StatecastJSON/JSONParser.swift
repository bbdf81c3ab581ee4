import StatecastCoding

/// A recursive-descent parser of RFC 8259, bounded in depth.
///
/// Foundation's readers are too slow for `--ndjson`: of three typical lines (11, 55 and 118 bytes) `JSONSerialization`
/// and the conversion to values read 206,000, 59,000 and 16,000 a second, this parser 3,200,000, 980,000 and 220,000.
/// They also keep the last of two equal keys silently.
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
        if skip("}") { return ValueMap() }
        repeat {
            skipSpace()
            let first = try next("a key in quotes")
            guard first == UInt8(ascii: "\"") else {
                throw failure(.malformed, "expected a key in quotes, got \(Self.name(first))")
            }
            let key = Value.text(try string())
            skipSpace()
            guard skip(":") else { throw try unexpected("a colon after the key") }
            entries.append((key, try value(depth: depth)))
            skipSpace()
        } while skip(",")
        guard skip("}") else { throw try unexpected("a comma or }") }
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
        if skip("]") { return [] }
        repeat {
            elements.append(try value(depth: depth))
            skipSpace()
        } while skip(",")
        guard skip("]") else { throw try unexpected("a comma or ]") }
        return elements
    }

    // MARK: Numbers

    private mutating func number() throws(CodingFailure) -> Value {
        let start = position
        var isInteger = true
        _ = skip("-")
        if !skip("0") { try digits() }
        if skip(".") {
            isInteger = false
            try digits()
        }
        if skip("e") || skip("E") {
            isInteger = false
            if !skip("+") { _ = skip("-") }
            try digits()
        }
        let text = String(decoding: input[start..<position], as: UTF8.self)
        if isInteger {
            if let value = UInt64(text) { return .unsigned(value) }
            if let value = Int64(text) { return Value(value) }
        }
        guard let value = Double(text), value.isFinite else {
            throw failure(.outOfRange, "expected a number that 64 bits can hold, got a larger one", at: start)
        }
        return .float(value)
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
        var copied = position
        while true {
            switch try next("the end of the text") {
            case UInt8(ascii: "\""):
                bytes += input[copied..<position]
                position += 1
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw failure(.invalidText, "expected a text in UTF-8, got other bytes", at: start)
                }
                if text.hasTooManyMarks { throw failure(.invalidText, CodingFailure.tooManyMarks, at: start) }
                return text
            case UInt8(ascii: "\\"):
                bytes += input[copied..<position]
                bytes += try escape()
                copied = position
            case 0..<0x20: throw failure(.malformed, "expected a control character to be escaped")
            default: position += 1
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
            if UTF16.isLeadSurrogate(first), skip("\\"), skip("u") {
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
        while position < input.count {
            switch input[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    /// - Returns: whether the character is next.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < input.count, input[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func word(_ word: String, _ value: Value) throws(CodingFailure) -> Value {
        guard input[position...].starts(with: word.utf8) else {
            throw failure(.malformed, "expected a value such as \(word) or a text in quotes")
        }
        position += word.utf8.count
        return value
    }

    private func next(_ expected: StaticString) throws(CodingFailure) -> UInt8 {
        guard position < input.count else { throw failure(.truncated, "expected \(expected), but the text ends") }
        return input[position]
    }

    // MARK: Failures

    private func unexpected(_ expected: StaticString) throws(CodingFailure) -> CodingFailure {
        failure(.malformed, "expected \(expected), got \(Self.name(try next(expected)))")
    }

    private func deeper(_ depth: Int) throws(CodingFailure) -> Int {
        guard depth < limits.maxDepth else {
            throw failure(.tooDeep, "expected at most \(limits.maxDepth) levels, got more")
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
        // Columns count characters, not bytes.
        let column = String(decoding: input[lineStart..<offset], as: UTF8.self).count + 1
        return CodingFailure(code, "line \(line), column \(column): \(message)", offset: offset)
    }
}
