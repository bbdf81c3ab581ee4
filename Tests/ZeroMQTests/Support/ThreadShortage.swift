import Dispatch
import Foundation

#if os(Linux)
    /// Whether a thread of this process has this name.
    func isRunning(threadNamed name: String) -> Bool {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.contains { thread in
            (try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)) == name + "\n"
        }
    }
#endif

/// The system refuses further threads to this process, until the end. For the body of an exit test.
final class ThreadShortage: Sendable {
    private let former: rlimit

    init() throws {
        // One thread of Dispatch is there, as always where tasks run.
        let ready = DispatchSemaphore(value: 0)
        DispatchQueue.global().async { ready.signal() }
        ready.wait()
        // The limit does not hold for root.
        if geteuid() == 0, setuid(65_534) != 0 { throw POSIXError(.EPERM) }
        var limits = rlimit()
        guard getrlimit(Self.threads, &limits) == 0 else { throw POSIXError(.EINVAL) }
        former = limits
        limits.rlim_cur = 0
        guard setrlimit(Self.threads, &limits) == 0 else { throw POSIXError(.EINVAL) }
    }

    func end() {
        var limits = former
        setrlimit(Self.threads, &limits)
    }

    #if canImport(Glibc)
        private static let threads = __rlimit_resource_t(__RLIMIT_NPROC.rawValue)
    #else
        private static let threads = RLIMIT_NPROC
    #endif
}
