import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a terminal and its shell ask a program to do that draws on it.
enum TerminalSignal: CaseIterable, Sendable {
    /// Ctrl-Z: leave the terminal, then call ``TerminalSignals/stop()``.
    case stop
    /// The shell continued the process, and may have used the terminal meanwhile.
    case `continue`
    /// The window has another size.
    case resize

    fileprivate var number: Int32 {
        switch self {
        case .stop: SIGTSTP
        case .continue: SIGCONT
        case .resize: SIGWINCH
        }
    }
}

enum TerminalSignals {
    /// Calls the body for each signal, one after another, until the task is cancelled.
    static func forEach(_ body: (TerminalSignal) async -> Void) async {
        let queue = DispatchQueue(label: "terminal-signals")
        let (stream, continuation) = AsyncStream.makeStream(of: TerminalSignal.self)
        let sources = TerminalSignal.allCases.map { event in
            #if canImport(Darwin)
                // A dispatch source observes a signal, but leaves its default action in effect there.
                signal(event.number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: event.number, queue: queue)
            source.setEventHandler { continuation.yield(event) }
            source.resume()
            return source
        }
        defer { for source in sources { source.cancel() } }
        for await signal in stream { await body(signal) }
    }

    /// Stops the process like any other on SIGTSTP, and returns when it goes on: at once in a process group without a
    /// shell, which could not continue it.
    static func stop() {
        let event = TerminalSignal.stop.number
        var (standard, handled) = (sigaction(), sigaction())
        #if canImport(Darwin)
            standard.__sigaction_u.__sa_handler = SIG_DFL
        #else
            standard.__sigaction_handler.sa_handler = SIG_DFL
        #endif
        sigaction(event, &standard, &handled)
        // Threads of Dispatch block signals.
        var (set, blocked) = (sigset_t(), sigset_t())
        sigemptyset(&set)
        sigaddset(&set, event)
        pthread_sigmask(SIG_UNBLOCK, &set, &blocked)
        raise(event)
        pthread_sigmask(SIG_SETMASK, &blocked, nil)
        sigaction(event, &handled, nil)
    }
}
