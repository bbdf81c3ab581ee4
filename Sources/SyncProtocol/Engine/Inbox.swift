import DequeModule

/// The frames of senders that wait for a turn, in the order of their arrival.
struct Inbox: Hashable, Sendable {
    private var frames: Deque<PendingFrame> = []
    /// The approximate memory of the frames.
    private(set) var bytes = 0

    var first: PendingFrame? { frames.first }

    /// The approximate memory of a frame: its entry, and the message that it retains.
    static func bytes(ofMessage bytes: Int) -> Int { MemoryLayout<PendingFrame>.stride + bytes }

    private static func bytes(of frame: ActionsFrame) -> Int { bytes(ofMessage: frame.messageBytes) }

    /// Appends a frame, unless the memory of all would exceed `bytesMax`. One frame always fits.
    ///
    /// - Returns: whether it is appended.
    mutating func append(_ frame: PendingFrame, bytesMax: Int) -> Bool {
        let size = Self.bytes(of: frame.frame)
        guard frames.isEmpty || bytes + size <= bytesMax else { return false }
        frames.append(frame)
        bytes += size
        return true
    }

    mutating func removeFirst() { bytes -= Self.bytes(of: frames.removeFirst().frame) }

    /// Keeps the rest of the first frame for the next turn.
    mutating func replaceFirst(with rest: PendingFrame) { frames[frames.startIndex] = rest }

    mutating func removeAll() -> [PendingFrame] {
        defer { (frames, bytes) = ([], 0) }
        return Array(frames)
    }
}

/// A frame of actions, or what is left of one that was longer than a turn.
///
/// After a turn, the rest is admitted again, like a frame that begins with its first number.
struct PendingFrame: Hashable, Sendable {
    let frame: ActionsFrame
    /// `nil` without keys; every action is then permitted.
    let sender: FrameSender?
    /// The offset of the rest in the actions.
    private(set) var offset = 0
    /// The number of its first action.
    private(set) var first: ActionNumber
    /// The number of its actions.
    private(set) var count: Int

    init(_ frame: ActionsFrame, from sender: FrameSender?) {
        self.frame = frame
        self.sender = sender
        first = frame.header.first
        count = frame.header.count
    }

    /// The identity of the frame in a refusal.
    var identity: Refusal.PushedFrame { Refusal.PushedFrame(opened: frame.header.opened, first: first) }

    /// Removes and returns its first actions: at most `countMax`, and none that begins `bytesMax` or more bytes after
    /// the first one.
    mutating func removeFirst(_ countMax: Int, bytesMax: Int = .max) -> FrameSlice {
        var items = frame.items(from: offset)
        var removed = 0
        while removed < countMax, removed == 0 || items.offset - offset < bytesMax {
            _ = items.next()
            removed += 1
        }
        defer {
            offset = items.offset
            first = first.advanced(by: removed)
            count -= removed
        }
        return FrameSlice(offset: offset, end: items.offset, first: first, count: removed)
    }
}

extension ActionsFrame {
    /// The size of the message up to the end of the actions. These are a slice of the message, which retains it.
    fileprivate var messageBytes: Int { actions.endIndex }
}

/// Consecutive actions of a frame.
struct FrameSlice: Hashable, Sendable {
    /// The offset of the first one in the frame's actions.
    let offset: Int
    /// The offset after the last one.
    let end: Int
    let first: ActionNumber
    let count: Int

    var byteCount: Int { end - offset }

    /// The first actions, and the others.
    func split(at count: Int, in frame: ActionsFrame) -> (FrameSlice, FrameSlice) {
        var items = frame.items(from: offset)
        for _ in 0..<count { _ = items.next() }
        let middle = first.advanced(by: count)
        return (
            FrameSlice(offset: offset, end: items.offset, first: first, count: count),
            FrameSlice(offset: items.offset, end: end, first: middle, count: self.count - count)
        )
    }
}
