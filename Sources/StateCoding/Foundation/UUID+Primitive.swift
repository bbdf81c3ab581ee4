#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tag 37 of the 16 bytes: half as long as the text.
extension UUID: TagReader {
    var tree: Value { .tagged(UUIDForm.tag, .bytes(withUnsafeBytes(of: uuid) { Array($0) })) }

    init?(tree: Value) {
        switch tree {
        case .bytes(let bytes):
            guard bytes.count == 16 else { return nil }
            self.init(bytes)
        case .text(let text):
            guard let bytes = UUIDForm.bytes(text) else { return nil }
            self.init(bytes)
        case .tagged(_, let content): self.init(tree: content)
        default: return nil
        }
    }

    /// - Precondition: there are 16 bytes.
    private init(_ bytes: [UInt8]) {
        self.init(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }

    static func readUsual(_ cursor: inout ItemCursor) -> UUID? {
        var next = cursor
        next.skipTag(UUIDForm.tag)
        guard let bytes = next.takeBytes(), bytes.count == 16 else { return nil }
        cursor = next
        return UUID(bytes)
    }

    static var sample: UUID { UUID([UInt8](repeating: 0, count: 16)) }
    static var expected: String { "a UUID (as text, or 16 bytes)" }
}
