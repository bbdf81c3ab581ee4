internal import Statecast

extension Replica {
    /// A signal whenever what is shown, or its status, changed; and after each interval. Signals that nobody took yet are
    /// one.
    ///
    /// Look at ``snapshot`` and ``status`` then: a status is never ahead of the state that it speaks of.
    func changes(every interval: Duration? = nil) -> AsyncStream<Void> {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        var tasks = [
            Task {
                for await _ in snapshots { signal.yield() }
                signal.finish()
            },
            Task { for await _ in statuses { signal.yield() } },
        ]
        if let interval {
            tasks.append(
                Task {
                    while (try? await Task.sleep(for: interval)) != nil { signal.yield() }
                }
            )
        }
        signal.onTermination = { [tasks] _ in
            for task in tasks { task.cancel() }
        }
        return signals
    }

    /// What cannot be followed is an error of the command.
    func checkIsFollowed() throws {
        switch status {
        case .joining, .live, .stale: break
        case .refused(let reason), .incompatible(let reason): throw reason
        }
    }
}
