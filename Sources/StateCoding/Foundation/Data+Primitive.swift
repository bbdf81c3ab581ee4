#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A byte string, as `[UInt8]` is.
extension Data: TagReader {
    var tree: Value { .bytes([UInt8](self)) }

    /// Bytes come as a byte string, or as JSON has them: base64, or an array of numbers.
    init?(tree: Value) {
        switch tree {
        case .bytes(let bytes): self.init(bytes)
        case .text(let text):
            guard let bytes = Base64.bytes(text) else { return nil }
            self.init(bytes)
        case .array(let elements):
            let bytes = elements.compactMap { $0.integer(UInt8.self) }
            guard bytes.count == elements.count else { return nil }
            self.init(bytes)
        case .tagged(_, let content): self.init(tree: content)
        default: return nil
        }
    }

    static func readUsual(_ cursor: inout ItemCursor) -> Data? { cursor.takeBytes().map { Data($0) } }

    static var sample: Data { Data() }
    static var expected: String { "bytes (or base64 text)" }
}
