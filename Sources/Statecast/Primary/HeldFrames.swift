internal import DequeModule

/// Frames of actions for a store whose journal has no room at present, in the order in which they came.
struct HeldFrames {
    private var frames: Deque<(frame: ActionsFrame, bytes: Int)> = []
    /// Of the messages that they came in.
    private(set) var bytes = 0

    var isEmpty: Bool { frames.isEmpty }

    /// Keeps a frame, unless that would be more than `bytesMax` in all.
    ///
    /// - Returns: whether it is kept.
    mutating func append(_ frame: ActionsFrame, bytes count: Int, bytesMax: Int) -> Bool {
        guard bytes + count <= bytesMax else { return false }
        frames.append((frame, count))
        bytes += count
        return true
    }

    mutating func popFirst() -> (frame: ActionsFrame, bytes: Int)? {
        guard let first = frames.popFirst() else { return nil }
        bytes -= first.bytes
        return first
    }
}
