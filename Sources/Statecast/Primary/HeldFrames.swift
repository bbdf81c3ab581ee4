internal import DequeModule

/// Messages with actions for a store whose journal has no room at present, in the order in which they came.
///
/// Kept as they came: decoded, a frame may take many times its bytes.
struct HeldFrames {
    private var messages: Deque<[UInt8]> = []
    private var bytes = 0

    var isEmpty: Bool { messages.isEmpty }

    /// Keeps a message, unless that would be more than `bytesMax` in all.
    ///
    /// - Returns: whether it is kept.
    mutating func append(_ message: [UInt8], bytesMax: Int) -> Bool {
        guard bytes + message.count <= bytesMax else { return false }
        messages.append(message)
        bytes += message.count
        return true
    }

    mutating func popFirst() -> [UInt8]? {
        let first = messages.popFirst()
        bytes -= first?.count ?? 0
        return first
    }
}
