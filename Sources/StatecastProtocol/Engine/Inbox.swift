import DequeModule

/// The frames of senders that wait for a turn: those of a user in the order of their arrival, the users in rotation, so
/// that one with many frames does not delay the others.
struct Inbox: Hashable, Sendable {
    /// The frames of a user.
    private struct Queue: Hashable {
        var frames: Deque<PendingFrame> = []
        /// The number of their actions.
        var actions = 0
        /// Their approximate memory.
        var bytes = 0

        mutating func append(_ frame: PendingFrame, bytes: Int) {
            frames.append(frame)
            actions += frame.count
            self.bytes += bytes
        }

        /// - Returns: the memory of the first frame.
        mutating func removeFirst() -> Int {
            let frame = frames.removeFirst()
            let size = Inbox.bytes(of: frame.frame)
            actions -= frame.count
            bytes -= size
            return size
        }

        /// Replaces the first frame by what is left of it.
        mutating func replaceFirst(by rest: PendingFrame) {
            actions -= frames[0].count - rest.count
            frames[0] = rest
        }
    }

    /// By user; frames without a user have none.
    private var queues: [String?: Queue] = [:]
    /// The users who have frames, the next one first.
    private var users: Deque<String?> = []
    /// What is left of the share of the first user.
    private var rest = Self.shareOfUser
    /// The approximate memory of the frames.
    private(set) var bytes = 0

    /// What a user is served before the next one: a quarter of a turn.
    static let shareOfUser = TurnBudget(actions: 1024, bytes: 64 << 10)

    var isEmpty: Bool { users.isEmpty }

    /// The users who have frames, the next one first.
    var waitingUsers: some Collection<String?> { users }

    /// The number and the approximate memory of a user's actions.
    func waiting(of user: String?) -> (actions: Int, bytes: Int) {
        queues[user].map { ($0.actions, $0.bytes) } ?? (0, 0)
    }

    /// The next frame of the users that may be served. The others keep their places in the rotation.
    mutating func next(where mayBeServed: (String?) -> Bool) -> PendingFrame? {
        guard let index = users.firstIndex(where: mayBeServed) else { return nil }
        if index > 0 {
            users.insert(users.remove(at: index), at: 0)
            rest = Self.shareOfUser
        }
        return queues[users[0]]?.frames.first
    }

    /// What may be taken from the first frame before another user is served.
    var share: TurnBudget { users.count > 1 ? rest : TurnBudget(actions: .max, bytes: .max) }

    /// The approximate memory of a frame: its entry, and the message that it retains.
    static func bytes(ofMessage bytes: Int) -> Int { MemoryLayout<PendingFrame>.stride + bytes }

    static func bytes(of frame: ActionsFrame) -> Int { bytes(ofMessage: frame.messageBytes) }

    /// Appends a frame, unless the memory of all would exceed `maxBytes`. One frame always fits.
    ///
    /// - Returns: whether it is appended.
    mutating func append(_ frame: PendingFrame, maxBytes: Int) -> Bool {
        let size = Self.bytes(of: frame.frame)
        guard isEmpty || bytes + size <= maxBytes else { return false }
        let user = frame.sender?.user
        if queues[user] == nil { users.append(user) }
        queues[user, default: Queue()].append(frame, bytes: size)
        bytes += size
        return true
    }

    /// The first frame was processed.
    ///
    /// - Parameters:
    ///   - actions: the number of its actions that were processed, and `bytes` the size of those that were reduced.
    ///   - frame: what is left of it for a later turn.
    mutating func consume(actions: Int, bytes: Int = 0, leaving frame: PendingFrame? = nil) {
        guard let user = users.first, let index = queues.index(forKey: user) else { return }
        if let frame {
            queues.values[index].replaceFirst(by: frame)
        } else {
            self.bytes -= queues.values[index].removeFirst()
        }
        rest.actions -= actions
        rest.bytes -= bytes
        let isServed = queues.values[index].frames.isEmpty
        guard isServed || rest.actions <= 0 || rest.bytes <= 0 else { return }
        users.removeFirst()
        if isServed { queues[user] = nil } else { users.append(user) }
        rest = Self.shareOfUser
    }

    /// Removes and returns all frames, user by user.
    mutating func removeAll() -> [PendingFrame] {
        defer { self = Inbox() }
        return users.flatMap { queues[$0]?.frames ?? [] }
    }
}

/// A frame of actions, or what is left of one that was longer than a turn.
///
/// After a turn, the rest is admitted again, like a frame that begins with its first number.
struct PendingFrame: Hashable, Sendable {
    let frame: ActionsFrame
    /// `nil` without keys; every action is then permitted.
    let sender: FrameSender?
    let arrived: Instant
    /// The offset of the rest in the actions.
    private(set) var offset = 0
    /// The number of its first action.
    private(set) var first: ActionNumber
    /// The number of its actions.
    private(set) var count: Int

    init(_ frame: ActionsFrame, from sender: FrameSender?, at arrived: Instant) {
        (self.frame, self.sender, self.arrived) = (frame, sender, arrived)
        first = frame.header.first
        count = frame.header.count
    }

    /// The size of its actions.
    var byteCount: Int { frame.actions.count - offset }

    /// The identity of the frame in a refusal.
    var identity: Refusal.PushedFrame { Refusal.PushedFrame(opened: frame.header.opened, first: first) }

    /// Drops the actions after its first `maxCount` ones.
    mutating func truncate(to maxCount: Int) { count = min(count, maxCount) }

    /// Removes and returns its first actions: at most `maxCount`, and none that begins `maxBytes` or more bytes after
    /// the first one.
    mutating func removeFirst(_ maxCount: Int, maxBytes: Int = .max) -> FrameSlice {
        var items = frame.items(from: offset)
        var removed = 0
        while removed < maxCount, removed == 0 || items.offset - offset < maxBytes {
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
