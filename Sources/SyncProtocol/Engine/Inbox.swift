import DequeModule

/// The frames of senders that wait for a turn: those of a user in the order of their arrival, the users in rotation, so
/// that one with many frames does not delay the others.
struct Inbox: Hashable, Sendable {
    /// The frames by user; those without a user have none.
    private var frames: [String?: Deque<PendingFrame>] = [:]
    /// The users who have frames; the first one is served.
    private var users: Deque<String?> = []
    /// What is left of the share of the user who is served.
    private var rest = Self.shareOfUser
    /// The approximate memory of the frames.
    private(set) var bytes = 0

    /// What a user is served before the next one: a quarter of a turn.
    private static let shareOfUser = TurnBudget(actions: 1024, bytes: 64 << 10)

    var isEmpty: Bool { users.isEmpty }

    /// The next frame.
    var first: PendingFrame? { users.first.flatMap { frames[$0]?.first } }

    /// What may be taken from the first frame before another user is served.
    var share: TurnBudget { users.count > 1 ? rest : TurnBudget(actions: .max, bytes: .max) }

    /// The approximate memory of a frame: its entry, and the message that it retains.
    static func bytes(ofMessage bytes: Int) -> Int { MemoryLayout<PendingFrame>.stride + bytes }

    private static func bytes(of frame: ActionsFrame) -> Int { bytes(ofMessage: frame.messageBytes) }

    /// Appends a frame, unless the memory of all would exceed `bytesMax`. One frame always fits.
    ///
    /// - Returns: whether it is appended.
    mutating func append(_ frame: PendingFrame, bytesMax: Int) -> Bool {
        let size = Self.bytes(of: frame.frame)
        guard isEmpty || bytes + size <= bytesMax else { return false }
        let user = frame.sender?.user
        if frames[user]?.isEmpty ?? true { users.append(user) }
        frames[user, default: []].append(frame)
        bytes += size
        return true
    }

    /// The first frame was processed.
    ///
    /// - Parameters:
    ///   - actions: the number of its actions that were processed, and `bytes` the size of those that were reduced.
    ///   - frame: what is left of it for a later turn.
    mutating func consume(actions: Int, bytes: Int = 0, leaving frame: PendingFrame? = nil) {
        guard let user = users.first, let index = frames.index(forKey: user) else { return }
        if let frame {
            frames.values[index][0] = frame
        } else {
            self.bytes -= Self.bytes(of: frames.values[index].removeFirst().frame)
        }
        rest.actions -= actions
        rest.bytes -= bytes
        let isServed = frames.values[index].isEmpty
        guard isServed || rest.actions <= 0 || rest.bytes <= 0 else { return }
        users.removeFirst()
        if !isServed { users.append(user) }
        rest = Self.shareOfUser
    }

    /// Removes and returns all frames, user by user.
    mutating func removeAll() -> [PendingFrame] {
        defer { self = Inbox() }
        return users.flatMap { frames[$0] ?? [] }
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

    /// The size of its actions.
    var byteCount: Int { frame.actions.count - offset }

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
