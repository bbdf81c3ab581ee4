internal import Logging
internal import SyncProtocol

/// Says that messages cannot be read: the first one, then ever more seldom, so that a flood of them is no flood of lines.
struct UnreadableMessages {
    private var count = 0

    mutating func note(_ failure: MessageFailure, _ logger: Logger) {
        count += 1
        guard count & (count - 1) == 0 else { return }
        logger.warning("\(count) messages of the primary cannot be read", metadata: ["last": "\(failure)"])
    }
}
