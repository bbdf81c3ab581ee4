import CStatecastPlatform
import Logging
import StatecastProtocol
import StatecastZeroMQ

/// Checks once a second, on the loop of a node, what its peers can use up: the memory of the process, and its file
/// descriptors.
final class ResourceWatch {
    private var memory: MemoryGuard?
    private let clock: NodeClock
    private let logger: Logger
    private let peers: () -> Logger.Metadata
    private let closeConnections: (_ reason: String) -> Void
    private let sample: () -> Void
    private var timer: DeadlineTimer?
    private var hasDescriptors = true

    private static let interval = Duration.seconds(1)

    /// - Parameters:
    ///   - maxMemory: in bytes; `nil`: the memory is not checked.
    ///   - peers: the peers that may be the cause, for the log.
    ///   - closeConnections: closes the node's connections, or replaces them.
    ///   - sample: called with each check, for values that operators see.
    init(
        maxMemory: Int?,
        on loop: PollLoop,
        clock: NodeClock,
        _ logger: Logger,
        peers: @escaping () -> Logger.Metadata,
        closeConnections: @escaping (_ reason: String) -> Void,
        sample: @escaping () -> Void
    ) {
        memory = maxMemory.map(MemoryGuard.init(maxBytes:))
        (self.clock, self.logger, self.peers, self.closeConnections) = (clock, logger, peers, closeConnections)
        self.sample = sample
        timer = loop.timer { [weak self] in self?.check() }
        timer?.set(.now)
    }

    private func check() {
        checkMemory()
        checkDescriptors()
        sample()
        timer?.set(clock.deadline(clock.now.advanced(by: Self.interval)))
    }

    private func checkMemory() {
        let verdict = memory?.check(
            resident: Int(clamping: statecast_resident_bytes()),
            allocated: { Int(clamping: statecast_allocated_bytes()) },
            at: clock.now
        )
        switch verdict {
        case .fine, nil: break
        case .close(let bytes):
            let reason = "the process uses \(bytes) bytes of memory, more than maxMemory"
            logger.warning("\(reason)", metadata: peers())
            closeConnections(reason)
        case .notOfPeers(let bytes):
            logger.error(
                """
                the process still uses \(bytes) bytes of memory, more than maxMemory, although its connections were \
                closed: its peers are not the cause. Raise maxMemory if the program needs so much
                """
            )
        }
    }

    private func checkDescriptors() {
        let areFree = statecast_has_free_descriptor()
        guard areFree != hasDescriptors else { return }
        hasDescriptors = areFree
        if areFree { return logger.notice("file descriptors are free again") }
        logger.error(
            """
            no file descriptor is free: connected peers are served, and no others can connect. Raise the limit \
            (LimitNOFILE= of a systemd unit, or ulimit -n), or limit the connections of an address in the firewall
            """,
            metadata: peers()
        )
    }
}
