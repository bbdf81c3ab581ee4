import StatecastCoding
import StatecastCore
import StatecastProtocol

/// Writes the JSON of the gateway's answers.
///
/// JSON of browsers holds less than a state: integers beyond ±2^53 become `{"$int":"…"}`, byte strings
/// `{"$bytes":"base64"}`, floats that are not finite `{"$float":"nan"}`, and a key of the state that begins with `$`
/// gets another `$`. Commas are written where the byte before requires one.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    /// Values end early when this size is exceeded: then the JSON is incomplete, and not used.
    private let maxBytes: Int

    /// Larger integers are not exact as a double.
    private static let maxInteger: UInt64 = 1 << 53

    init(maxBytes: Int = .max) { self.maxBytes = maxBytes }

    /// Whether a value was not written as a whole.
    var isTooLarge: Bool { bytes.count > maxBytes }

    // MARK: Structure

    mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
        separate()
        bytes.append(UInt8(ascii: "{"))
        try body(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
        separate()
        bytes.append(UInt8(ascii: "["))
        try body(&self)
        bytes.append(UInt8(ascii: "]"))
    }

    /// Begins a member of an object.
    mutating func key(_ name: some StringProtocol) {
        separate()
        quoted(name)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func separate() {
        switch bytes.last {
        case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): break
        default: bytes.append(UInt8(ascii: ","))
        }
    }

    // MARK: Scalars

    mutating func string(_ text: some StringProtocol) {
        separate()
        quoted(text)
    }

    mutating func integer(_ number: some BinaryInteger) { raw("\(number)") }

    mutating func double(_ number: Double) {
        guard !number.isFinite else { return raw("\(number)") }
        special("$float", number.isNaN ? "nan" : number < 0 ? "-infinity" : "infinity")
    }

    mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    mutating func null() { raw("null") }

    /// JSON that was written before.
    mutating func json(_ json: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    private mutating func raw(_ text: String) { json(text.utf8) }

    private mutating func special(_ key: String, _ text: String) { object { $0.member(key, text) } }

    private mutating func quoted(_ text: some StringProtocol) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20, 0x7F:
                bytes.append(contentsOf: "\\u00".utf8)
                let digits = String(byte, radix: 16)
                bytes.append(contentsOf: (digits.count == 1 ? "0" + digits : digits).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    // MARK: Members

    // What is not known is null.

    mutating func member(_ name: String, _ text: (some StringProtocol)?) {
        key(name)
        if let text { string(text) } else { null() }
    }

    mutating func member(_ name: String, _ number: (some BinaryInteger)?) {
        key(name)
        if let number { integer(number) } else { null() }
    }

    mutating func member(_ name: String, _ number: some Quantity) { member(name, number.rawValue) }

    mutating func member(_ name: String, _ time: Timestamp?) { member(name, time?.milliseconds) }

    mutating func member(_ name: String, _ flag: Bool) {
        key(name)
        bool(flag)
    }

    mutating func object(_ name: String, _ body: (inout JSONWriter) throws -> Void) rethrows {
        key(name)
        try object(body)
    }

    mutating func array(_ name: String, _ body: (inout JSONWriter) throws -> Void) rethrows {
        key(name)
        try array(body)
    }

    mutating func member(_ position: Position?) {
        guard let position else { return member("position", nil as String?) }
        object("position") { writer in
            writer.member("lineage", position.lineage.description)
            writer.member("epoch", position.epoch)
            writer.member("revision", position.revision)
        }
    }

    // MARK: Values of a state

    /// Writes a value without what is hidden below it.
    ///
    /// - Parameter depth: how many levels of containers are written; those below are `{"$cut":{…}}`.
    mutating func value(_ value: Value, hiding hidden: HiddenPaths, depth: Int = .max) {
        if isTooLarge { return null() }
        switch PlainForm(value) {
        case .null: null()
        case .bool(let value): bool(value)
        case .number(let digits): number(digits, of: value)
        case .text(let text):
            switch value {
            case .bytes: special("$bytes", text)
            case .float(let number): double(number)
            default: string(text)
            }
        case .array(let elements):
            guard depth > 0 else { return cut("array", elements.count) }
            array { writer in
                for (index, element) in elements.enumerated() where !writer.isTooLarge {
                    let inside = hidden.inside { "\(index)" }
                    // An element stays in its place.
                    if inside.hidesAll {
                        writer.null()
                    } else {
                        writer.value(element, hiding: inside, depth: depth - 1)
                    }
                }
            }
        case .map(let map):
            guard depth > 0 else { return cut("object", map.count) }
            object { writer in
                for (key, element) in map where !writer.isTooLarge {
                    let name = key.keyName
                    let inside = hidden.inside { name }
                    if inside.hidesAll { continue }
                    writer.key(name.hasPrefix("$") ? "$" + name : name)
                    writer.value(element, hiding: inside, depth: depth - 1)
                }
            }
        }
    }

    /// Writes what stands for a value that is not written: its type, and the number of its parts or bytes.
    mutating func cut(_ type: String, _ count: Int) {
        object { writer in
            writer.object("$cut") { writer in
                writer.member("type", type)
                writer.member("count", count)
            }
        }
    }

    private mutating func number(_ digits: String, of value: Value) {
        switch value {
        case .unsigned(let number) where number > Self.maxInteger: special("$int", digits)
        case .negative(let number) where number >= Self.maxInteger: special("$int", digits)
        case .tagged(_, .float): raw(digits)
        // A big or a decimal number of more digits than a double has.
        case .tagged where digits.count > 15:
            if digits.contains(where: { !$0.isNumber && $0 != "-" }) { string(digits) } else { special("$int", digits) }
        default: raw(digits)
        }
    }
}
