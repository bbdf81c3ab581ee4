@testable import StateCore

/// The numbers that an effect sends before its start returns.
func delivered(by effect: Effect) -> [Int] {
    let numbers = Recorder<Int>()
    let runner = EffectRunner { result in
        if let append = result.action as? Append { numbers.record(append.number) }
        result.settle()
    }
    runner.start(effect, key: IdempotencyKey(revision: 1, index: 0))
    return numbers.all
}
