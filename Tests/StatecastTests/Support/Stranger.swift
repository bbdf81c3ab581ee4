import Statecast
import StatecastZeroMQ

/// A peer without rights that connects to the endpoints of a primary again and again, from before it binds. It
/// subscribes to all messages, pushes one as soon as it may, and records what it gets.
actor Stranger {
    private let loop: PollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let states: Socket
    private let receipts: Socket
    private let actions: Socket
    private var watches: [Watch] = []
    private let message: [UInt8]
    private let admissions: EventLog

    /// - Parameters:
    ///   - primary: names the endpoints.
    ///   - security: `nil`: it has no keys.
    ///   - admissions: gets an event for each message that the stranger receives or sends.
    init(
        at primary: PrimaryConfiguration,
        _ security: CurveSecurity?,
        pushing message: [UInt8],
        _ admissions: EventLog
    ) async throws {
        loop = try PollLoop()
        self.message = message
        self.admissions = admissions
        let options = SocketOptions.with {
            $0.security = security
            // It can send only once its handshake has succeeded.
            $0.immediate = true
            $0.reconnectInterval = .milliseconds(2)
            // Otherwise a refused peer waits until the primary's limit is over, which is five seconds.
            $0.handshakeInterval = .milliseconds(100)
        }
        states = try Socket(.sub, options: options)
        receipts = try Socket(.sub, options: options)
        actions = try Socket(.push, options: options)
        try states.subscribe([])
        try receipts.subscribe([])
        try states.connect(try Endpoint(primary.publish))
        try receipts.connect(try Endpoint(primary.receipts))
        try actions.connect(try Endpoint(primary.actions))
        begin()
    }

    deinit { loop.shutdown() }

    private func begin() {
        watches = [
            loop.watch(states) { [weak self] in self?.assumeIsolated { $0.receive() } },
            loop.watch(receipts) { [weak self] in self?.assumeIsolated { $0.receive() } },
            loop.watch(actions) {
            } onWritable: { [weak self] in
                self?.assumeIsolated { $0.push() }
            },
        ]
        watches[2].wantsWritable = true
    }

    private func receive() {
        while let message = try? states.receive() { admissions.add("states: \(message)") }
        while let message = try? receipts.receive() { admissions.add("receipts: \(message)") }
    }

    private func push() {
        guard (try? actions.send(message)) == true else { return }
        admissions.add("actions: a message was sent")
        watches[2].wantsWritable = false
    }
}
