import StatecastProtocol

/// A parameter of a statement, in PostgreSQL's binary format.
enum PostgresValue {
    case nullInteger
    case nullIdentity
    case nullText
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case bytes([UInt8])
    /// A UUID.
    case identity(NodeID)
    case texts([String])
    case integers([Int64])
    case byteArrays([[UInt8]])

    /// The bits of an unsigned number, as PostgreSQL's integers are signed.
    static func bits(_ number: UInt64) -> PostgresValue { .integer(Int64(bitPattern: number)) }
    static func bits(_ quantity: some Quantity) -> PostgresValue { .bits(quantity.rawValue) }
    static func bits(_ numbers: some Sequence<UInt64>) -> PostgresValue {
        .integers(numbers.map(Int64.init(bitPattern:)))
    }

    /// The object identifier of the type: see PostgreSQL's `pg_type.dat`.
    var type: UInt32 {
        switch self {
        case .boolean: 16
        case .bytes: 17
        case .integer, .nullInteger: 20
        case .text, .nullText: 25
        case .byteArrays: 1001
        case .texts: 1009
        case .integers: 1016
        case .identity, .nullIdentity: 2950
        }
    }

    /// `nil` for null.
    var encoded: [UInt8]? {
        switch self {
        case .nullInteger, .nullIdentity, .nullText: nil
        case .text(let text): Array(text.utf8)
        case .integer(let number): Self.bigEndian(number)
        case .boolean(let isTrue): [isTrue ? 1 : 0]
        case .bytes(let bytes): bytes
        case .identity(let identity): identity.bytes
        case .texts(let texts): Self.array(of: 25, texts.map { Array($0.utf8) })
        case .integers(let numbers): Self.array(of: 20, numbers.map(Self.bigEndian))
        case .byteArrays(let arrays): Self.array(of: 17, arrays)
        }
    }

    /// The number of dimensions, whether there are nulls, the type of the elements; the length and first index of the
    /// one dimension; the elements, each after its length.
    private static func array(of type: Int32, _ elements: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.reduce(0) { $0 + 4 + $1.count })
        for number in [1, 0, type, Int32(elements.count), 1] { bytes += bigEndian(number) }
        for element in elements {
            bytes += bigEndian(Int32(element.count))
            bytes += element
        }
        return bytes
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian, Array.init)
    }
}

/// The value of a column in a row, in PostgreSQL's binary format.
struct PostgresColumn {
    /// `nil` for null.
    let bytes: UnsafeRawBufferPointer?

    var isNull: Bool { bytes == nil }

    /// - Throws: ``PostgresFailure`` if it is no integer of 4 or 8 bytes.
    func integer() throws(PostgresFailure) -> Int64 {
        guard let bytes else { throw mismatch("an integer") }
        switch bytes.count {
        case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        default: throw mismatch("an integer")
        }
    }

    func bits() throws(PostgresFailure) -> UInt64 { UInt64(bitPattern: try integer()) }

    func boolean() throws(PostgresFailure) -> Bool {
        guard let bytes, bytes.count == 1 else { throw mismatch("a boolean") }
        return bytes[0] != 0
    }

    func text() throws(PostgresFailure) -> String {
        guard let bytes else { throw mismatch("a text") }
        return String(decoding: bytes, as: UTF8.self)
    }

    func byteArray() throws(PostgresFailure) -> [UInt8] {
        guard let bytes else { throw mismatch("bytes") }
        return Array(bytes)
    }

    func identity() throws(PostgresFailure) -> NodeID {
        guard let bytes, let identity = NodeID(bytes: bytes) else { throw mismatch("a UUID") }
        return identity
    }

    private func mismatch(_ expected: String) -> PostgresFailure {
        PostgresFailure("a column holds \(bytes.map { "\($0.count) bytes" } ?? "null"), expected \(expected)")
    }
}
