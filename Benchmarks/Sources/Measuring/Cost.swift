/// What one action cost: nanoseconds on the wall's clock, and on those of all processors together.
///
/// The second shows what the first hides: work that runs beside the caller, on a processor that was idle.
package struct Cost {
    package let wall: Double
    package let processor: Double

    /// Runs `body` once, and divides its cost by `actions`.
    package static func each(of actions: Int, _ body: () -> Void) -> Cost {
        var watch = Stopwatch()
        watch.measure(body)
        return watch.cost(each: actions)
    }
}
