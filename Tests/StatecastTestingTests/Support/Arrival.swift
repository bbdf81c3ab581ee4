import StateCore
import StatecastTesting

extension TestCore<Library> {
    /// Returns once an effect has sent `action`, which has not been received then.
    ///
    /// - Parameter afterwards: called when it has been received or dropped.
    func awaitArrival(of action: Reached, id: Int = 0, afterwards: @escaping @Sendable () -> Void = {}) async {
        let arrived = Gate()
        await send(
            Wanted(
                .merge(
                    .run(id: id) { send in
                        await send(action)
                        afterwards()
                    },
                    .run { send in
                        await arrived.wait()
                        await send(LoadCancelled())
                    }
                )
            )
        )
        await receive { other in
            if other as? Reached == action { arrived.open() }
            return other is LoadCancelled
        }
    }
}
