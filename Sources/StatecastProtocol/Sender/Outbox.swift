import DequeModule

/// A sender's actions without a receipt: first the sent ones, by number and without gaps, then the queued ones, which
/// have no number.
///
/// The actions stay in the chunks in which they were submitted. A piece is a range of a chunk, so the cost of an
/// operation depends on the number of pieces, not of actions; only an operation that divides a piece reads the heads of
/// its actions.
struct Outbox: Hashable, Sendable {
    /// Consecutive actions of one chunk.
    struct Piece: Hashable, Sendable {
        /// The index of the chunk among all that were added.
        let chunk: Int
        /// The place of the actions in the chunk's bytes.
        var range: Range<Int>
        var ticket: Ticket
        var count: Int
    }

    fileprivate struct Sent: Hashable, Sendable {
        var number: ActionNumber
        /// The number of frames of new actions before the one that contained it first.
        let frame: Int
        var piece: Piece
        /// Whether the actions have their receipts and wait for the one of an earlier action.
        var isResolved = false

        var unresolved: Unresolved { Unresolved(ticket: piece.ticket, number: number, count: piece.count) }
    }

    /// Sent actions whose outcome is not known.
    struct Unresolved: Hashable, Sendable {
        let ticket: Ticket
        let number: ActionNumber
        let count: Int
    }

    /// The chunks of all pieces. The first one has the index `chunksDropped`.
    private var chunks: Deque<ActionChunk> = []
    private var chunksDropped = 0
    private var sent: Deque<Sent> = []
    private var queued: Deque<Piece> = []
    private var queuedCount = 0
    /// The size of the queued actions, with their heads.
    private(set) var queuedBytes = 0
    /// The size of the sent actions from `first` on, with their heads.
    private var sentBytes = 0
    /// The number of frames of new actions.
    private var frameCount = 0
    /// The number of the next queued action.
    private(set) var next = ActionNumber(1)
    /// The next number to push; below `next` while sent actions are pushed again.
    private(set) var cursor = ActionNumber(1)
    /// The number of sent actions that have their receipt and wait for the one of an earlier action.
    private var resolvedCount = 0
    /// Their size, with their heads.
    private var resolvedBytes = 0
    /// The oldest number whose receipt a resumed session may need; `nil` if the session is not saved.
    private var needed: ActionNumber?

    /// Whether a sent action has no receipt.
    var hasOutstanding: Bool { !sent.isEmpty }
    /// The number of actions without a receipt.
    var count: Int { next.distance(beyond: first) - resolvedCount + queuedCount }
    /// The oldest number without a receipt, or the next number.
    var first: ActionNumber { sent.first?.number ?? next }
    /// The oldest number whose outcome this sender, or one that resumes its session, may still need.
    var lowestNeeded: ActionNumber { min(first, needed ?? first) }

    init() {}

    /// An empty outbox whose next action has a number.
    init(from number: ActionNumber) { (next, cursor, needed) = (number, number, number) }

    /// Restores the actions of a saved session. Any of them may have been sent, in the order of their submission.
    init(resuming saved: SavedSession) {
        let checkpoint = saved.checkpoint
        next = checkpoint.first
        cursor = next
        needed = next
        chunks = saved.chunks
        var outcomes = saved.outcomes[...]
        for (index, chunk) in saved.chunks.enumerated() {
            var rest = Piece(chunk: index, range: 0..<chunk.bytes.count, ticket: chunk.first, count: chunk.count)
            _ = take(saved.first.distance(beyond: rest.ticket), of: &rest)
            while rest.count > 0 {
                while let run = outcomes.first, run.end <= rest.ticket { outcomes.removeFirst() }
                let run = outcomes.first
                if let run, run.first <= rest.ticket {
                    let resolved = take(min(rest.count, run.end.distance(beyond: rest.ticket)), of: &rest)
                    restore(resolved, checkpoint, run.outcome(of: resolved.ticket))
                } else {
                    let count = run?.first.distance(beyond: rest.ticket) ?? rest.count
                    restore(take(min(rest.count, count), of: &rest), checkpoint)
                }
            }
        }
    }

    private mutating func restore(_ piece: Piece, _ checkpoint: SessionCheckpoint, _ outcome: ResolvedAction? = nil) {
        guard piece.count > 0 else { return }
        if let outcome {
            // Resolved before earlier actions: it keeps its place among them.
            guard let sent = outcome.sent, sent.session == checkpoint.session, sent.number >= checkpoint.first else {
                return
            }
            precondition(sent.number == next, "expected number \(next) in a saved session, got \(sent.number)")
        } else if checkpoint.registration == nil {
            return enqueue(piece)
        }
        sent.append(Sent(number: next, frame: 0, piece: piece, isResolved: outcome != nil))
        sentBytes += piece.range.count
        resolvedCount += outcome == nil ? 0 : piece.count
        resolvedBytes += outcome == nil ? 0 : piece.range.count
        next = next.advanced(by: piece.count)
    }

    // MARK: Adding and removing

    /// Queues the actions of a chunk, which follow those that were added before; not its input that is no action.
    mutating func append(_ chunk: ActionChunk) {
        let index = chunksDropped + chunks.count
        chunks.append(chunk)
        var rest = Piece(chunk: index, range: 0..<chunk.bytes.count, ticket: chunk.first, count: chunk.count)
        for input in chunk.invalidInputs {
            enqueue(take(input.ticket.distance(beyond: rest.ticket), of: &rest))
            _ = take(1, of: &rest)
        }
        enqueue(rest)
    }

    private mutating func enqueue(_ piece: Piece) {
        guard piece.count > 0 else { return }
        queued.append(piece)
        queuedCount += piece.count
        queuedBytes += piece.range.count
    }

    private func chunk(_ piece: Piece) -> ActionChunk { chunks[piece.chunk - chunksDropped] }

    /// Removes the first `count` actions of a piece, and returns them.
    private func take(_ count: Int, of piece: inout Piece) -> Piece {
        var taken = piece
        let offset: Int
        switch count {
        case 0: offset = piece.range.lowerBound
        case piece.count: offset = piece.range.upperBound
        default: offset = chunk(piece).offset(after: count, from: piece.range.lowerBound)
        }
        taken.range = piece.range.lowerBound..<offset
        taken.count = count
        piece.range = offset..<piece.range.upperBound
        piece.ticket = piece.ticket.advanced(by: count)
        piece.count -= count
        return taken
    }

    /// Removes the first `count` sent actions, at most all, and returns them.
    private func take(_ count: Int, of sent: inout Sent) -> Sent {
        var taken = sent
        taken.piece = take(min(count, sent.piece.count), of: &sent.piece)
        sent.number = sent.number.advanced(by: taken.piece.count)
        return taken
    }

    /// Receipts of lower numbers are not needed again.
    mutating func releaseReceipts(before number: ActionNumber) { needed = number }

    /// Removes a queued action.
    ///
    /// - Returns: `false` if it is not queued.
    mutating func withdraw(_ ticket: Ticket) -> Bool {
        let index = queued.partitioningIndex { $0.ticket > ticket } - 1
        guard index >= 0, ticket < queued[index].ticket.advanced(by: queued[index].count) else { return false }
        var rest = queued[index]
        let before = take(ticket.distance(beyond: rest.ticket), of: &rest)
        let removed = take(1, of: &rest)
        queued.replaceSubrange(index...index, with: [before, rest].filter { $0.count > 0 })
        queuedCount -= 1
        queuedBytes -= removed.range.count
        return true
    }

    /// The number of a sent action without a receipt; `nil` if there is none with this ticket.
    func number(of ticket: Ticket) -> ActionNumber? {
        let index = sent.partitioningIndex { $0.piece.ticket > ticket } - 1
        guard index >= 0, !sent[index].isResolved else { return nil }
        let distance = ticket.distance(beyond: sent[index].piece.ticket)
        return distance < sent[index].piece.count ? sent[index].number.advanced(by: distance) : nil
    }

    /// Removes the queued actions that are larger than `maxBytes`.
    mutating func removeQueued(largerThan maxBytes: Int) -> [(ticket: Ticket, bytes: Int)] {
        guard queued.contains(where: { chunk($0).largestActionBytes > maxBytes }) else { return [] }
        var removed: [(ticket: Ticket, bytes: Int)] = []
        let pieces = queued
        (queued, queuedCount, queuedBytes) = ([], 0, 0)
        for var rest in pieces {
            guard chunk(rest).largestActionBytes > maxBytes else {
                enqueue(rest)
                continue
            }
            var (offset, fitting) = (rest.range.lowerBound, 0)
            for _ in 0..<rest.count {
                let action = chunk(rest).action(at: offset)
                offset = action.upperBound
                fitting += 1
                guard action.count > maxBytes else { continue }
                enqueue(take(fitting - 1, of: &rest))
                removed.append((take(1, of: &rest).ticket, action.count))
                fitting = 0
            }
            enqueue(rest)
        }
        return removed
    }

    /// Removes all queued actions.
    mutating func removeQueued() -> [Piece] {
        defer { (queued, queuedCount, queuedBytes) = ([], 0, 0) }
        return Array(queued)
    }

    /// Requeues all sent actions: they were never applied, and are sent again under another session.
    mutating func requeueSent() {
        let lowest = first
        for sent in sent.reversed() where !sent.isResolved {
            queued.prepend(sent.piece)
            queuedCount += sent.piece.count
            queuedBytes += sent.piece.range.count
        }
        next = lowest
        forgetSent()
    }

    /// Removes all sent actions; queued ones stay.
    mutating func abandonSent() -> [Unresolved] {
        defer { forgetSent() }
        return sent.filter { !$0.isResolved }.map(\.unresolved)
    }

    private mutating func forgetSent() {
        (sent, sentBytes, resolvedCount, resolvedBytes) = ([], 0, 0, 0)
        cursor = next
    }

    /// Drops the chunks of which no action is left.
    ///
    /// - Returns: their buffers, for further chunks.
    mutating func dropChunks() -> [[UInt8]] {
        let kept = sent.first?.piece.chunk ?? queued.first?.chunk ?? chunksDropped + chunks.count
        guard kept > chunksDropped else { return [] }
        let buffers = chunks.prefix(kept - chunksDropped).map(\.bytes)
        chunks.removeFirst(kept - chunksDropped)
        chunksDropped = kept
        return buffers
    }

    // MARK: Sending

    /// The maximum size of an action's CBOR head.
    static let maxHeadBytes = 5

    /// Whether each sent action still fits a frame with this space for actions.
    func fits(maxBytes: Int) -> Bool {
        sent.allSatisfy { sent in
            let chunk = chunk(sent.piece)
            if chunk.largestActionBytes + Self.maxHeadBytes <= maxBytes { return true }
            var offset = sent.piece.range.lowerBound
            return (0..<sent.piece.count).allSatisfy { _ in
                let action = chunk.action(at: offset)
                offset = action.upperBound
                return action.count + Self.maxHeadBytes <= maxBytes
            }
        }
    }

    /// The size of the actions without a receipt that were sent.
    var outstandingBytes: Int { sentBytes - resolvedBytes }

    /// The size of the actions before the cursor without a receipt.
    var bytesInFlight: Int {
        guard cursor < next else { return outstandingBytes }
        var bytes = 0
        for sent in sent {
            let count = cursor.distance(beyond: sent.number)
            guard count > 0 else { break }
            if sent.isResolved { continue }
            var piece = sent.piece
            bytes += take(min(count, piece.count), of: &piece).range.count
        }
        return bytes
    }

    /// Whether a fifth of the window is free: of the numbers, and of the bytes.
    func hasRoom(maxWindow: Int, maxBytes: Int) -> Bool {
        windowRoom(maxWindow) >= maxWindow / 5 && maxBytes - sentBytes >= maxBytes / 5
    }

    /// The number of actions that the window has room for. It spans the numbers from `lowestNeeded` on, since the
    /// primary remembers their outcomes.
    private func windowRoom(_ maxWindow: Int) -> Int { maxWindow - cursor.distance(beyond: lowestNeeded) }

    /// The actions to push next, from the cursor on.
    ///
    /// - Parameters:
    ///   - maxCount: the maximum number of outstanding actions.
    ///   - maxBytes: the maximum size of a frame's actions.
    func actions(maxWindow maxCount: Int, maxBytes: Int, _ limits: Limits) -> (
        count: Int, ranges: [ArraySlice<UInt8>]
    ) {
        var countLeft = windowRoom(maxCount)
        var bytesLeft = min(limits.frameBytesTarget, maxBytes)
        var count = 0
        var ranges: [ArraySlice<UInt8>] = []

        /// - Parameter maxAlone: the maximum size of the first action in the frame.
        /// - Returns: whether all of the piece's actions were added.
        func add(_ piece: Piece, maxAlone: Int) -> Bool {
            let chunk = chunk(piece)
            var (end, added) = (piece.range.upperBound, piece.count)
            if piece.count > countLeft || piece.range.count > bytesLeft {
                (end, added) = (piece.range.lowerBound, 0)
                while added < min(piece.count, countLeft) {
                    let next = chunk.action(at: end).upperBound
                    let size = next - piece.range.lowerBound
                    let fits = size <= bytesLeft || count + added == 0 && size <= maxAlone
                    guard fits else { break }
                    (end, added) = (next, added + 1)
                }
            }
            guard added > 0 else { return false }
            ranges.append(chunk.bytes[piece.range.lowerBound..<end])
            count += added
            countLeft -= added
            bytesLeft -= end - piece.range.lowerBound
            return added == piece.count
        }

        if cursor < next {
            let index = index(of: cursor)
            for sent in sent[index...] {
                var piece = sent.piece
                _ = take(cursor.distance(beyond: sent.number), of: &piece)
                guard add(piece, maxAlone: maxBytes) else { return (count, ranges) }
            }
        }
        guard frameCount - (sent.first?.frame ?? frameCount) < limits.maxWindowFrames else { return (count, ranges) }
        let windowLeft = limits.maxWindowBytes - sentBytes
        bytesLeft = min(bytesLeft, windowLeft)
        let maxAlone = sent.isEmpty ? maxBytes : min(maxBytes, windowLeft)
        for piece in queued where !add(piece, maxAlone: maxAlone) { break }
        return (count, ranges)
    }

    /// Records that `count` actions from the cursor on were sent.
    mutating func markSent(count: Int) {
        let added = count - min(count, next.distance(beyond: cursor))
        var left = added
        while left > 0, var piece = queued.popFirst() {
            let taken = take(min(left, piece.count), of: &piece)
            if piece.count > 0 { queued.prepend(piece) }
            sent.append(Sent(number: next, frame: frameCount, piece: taken))
            next = next.advanced(by: taken.count)
            left -= taken.count
            queuedCount -= taken.count
            queuedBytes -= taken.range.count
            sentBytes += taken.range.count
        }
        if added > 0 { frameCount += 1 }
        precondition(left == 0, "\(left) of \(count) actions were sent that are not in the outbox")
        cursor = cursor.advanced(by: count)
    }

    /// Pushes again from this number on, but never from one that has its receipt.
    mutating func rewind(to number: ActionNumber) { cursor = min(next, max(first, number)) }

    // MARK: Receipts

    /// The index of the piece with a sent number.
    private func index(of number: ActionNumber) -> Int { sent.partitioningIndex { $0.number > number } - 1 }

    /// Whether the number was sent and has no receipt.
    func awaitsReceipt(of number: ActionNumber) -> Bool {
        number >= first && number < next && !sent[index(of: number)].isResolved
    }

    /// Records outcomes. Those of numbers that await none are ignored.
    ///
    /// - Parameter report: called with the actions that had no outcome before, and the outcome of the first of them,
    ///   which the others follow.
    mutating func resolve(_ runs: OutcomeRuns, _ report: (Unresolved, Outcome) -> Void) {
        let runs = runs.slice(from: first, through: next.previous)
        guard !runs.isEmpty else { return }
        // With the neighbours, with which the resolved pieces may join.
        let lower = max(index(of: runs.start) - 1, sent.startIndex)
        let upper = min(index(of: runs.end.previous) + 2, sent.endIndex)
        var pieces: [Sent] = []
        var runsLeft = runs.runs[...]
        for var rest in sent[lower..<upper] {
            while !rest.isResolved, rest.piece.count > 0 {
                while let run = runsLeft.first, run.end <= rest.number { runsLeft.removeFirst() }
                guard let run = runsLeft.first else { break }
                pieces.join(take(run.first.distance(beyond: rest.number), of: &rest))
                var resolved = take(run.end.distance(beyond: rest.number), of: &rest)
                guard resolved.piece.count > 0 else { break }
                report(resolved.unresolved, run.outcome(of: resolved.number))
                resolved.isResolved = true
                resolvedCount += resolved.piece.count
                resolvedBytes += resolved.piece.range.count
                pieces.join(resolved)
            }
            pieces.join(rest)
        }
        sent.replaceSubrange(lower..<upper, with: pieces)
        while let oldest = sent.first, oldest.isResolved {
            sent.removeFirst()
            resolvedCount -= oldest.piece.count
            resolvedBytes -= oldest.piece.range.count
            sentBytes -= oldest.piece.range.count
        }
        cursor = max(cursor, first)
    }
}

extension [Outbox.Sent] {
    /// Appends sent actions. Resolved neighbours become one piece.
    fileprivate mutating func join(_ sent: Element) {
        guard sent.piece.count > 0 else { return }
        guard let last, last.isResolved, sent.isResolved, last.piece.chunk == sent.piece.chunk,
            last.piece.range.upperBound == sent.piece.range.lowerBound
        else { return append(sent) }
        self[count - 1].piece.range = last.piece.range.lowerBound..<sent.piece.range.upperBound
        self[count - 1].piece.count += sent.piece.count
    }
}
