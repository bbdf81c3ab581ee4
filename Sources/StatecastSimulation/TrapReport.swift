#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Prints the command that repeats a run that ends the process by a trap, since its report is lost.
package enum TrapReport {
    /// Written once, before any thread runs a seed.
    private nonisolated(unsafe) static var seedOfThread = pthread_key_t()
    /// What happened on each signal before, for example the runtime's backtrace.
    private nonisolated(unsafe) static var actions: [(signal: Int32, action: sigaction)] = []

    /// The text before the seed.
    private nonisolated(unsafe) static var text: [UInt8] = []

    /// Installs handlers of the signals that end the process. If the thread runs a seed, a handler prints the command.
    /// Then it restores the previous handler. Call it once, before the first run.
    ///
    /// - Parameter command: the command that repeats a run, without the seed at its end.
    package static func install(command: String) {
        text = Array("a run trapped and ended the process\nrepeat with: \(command)".utf8)
        pthread_key_create(&seedOfThread, nil)
        for signal in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGSEGV] {
            var action = sigaction()
            sigaction(signal, nil, &action)
            actions.append((signal, action))
            Self.handle(signal)
        }
    }

    private static func handle(_ number: Int32) {
        _ = signal(number) { number in
            TrapReport.printSeed()
            // The instruction is executed again, with what happened before.
            for before in TrapReport.actions where before.signal == number {
                var action = before.action
                sigaction(number, &action, nil)
            }
        }
    }

    /// The current thread runs a seed from now on; `nil`: none.
    static func note(_ seed: UInt64?) {
        guard !actions.isEmpty else { return }
        // The pointer is never used. A zero is no seed.
        pthread_setspecific(seedOfThread, UnsafeRawPointer(bitPattern: seed.map { UInt($0 &+ 1) } ?? 0))
    }

    /// Only calls that are safe in a signal handler.
    private static func printSeed() {
        guard let pointer = pthread_getspecific(seedOfThread) else { return }
        var seed = UInt(bitPattern: pointer) - 1
        text.withUnsafeBytes { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
        // The digits from the last one on, and a line feed.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 21) { digits in
            var start = digits.count - 1
            digits[start] = UInt8(ascii: "\n")
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(seed % 10)
                seed /= 10
            } while seed > 0
            // Not `&digits[start]`, which is a copy of one digit.
            if let first = digits.baseAddress { _ = write(STDERR_FILENO, first + start, digits.count - start) }
        }
    }
}
