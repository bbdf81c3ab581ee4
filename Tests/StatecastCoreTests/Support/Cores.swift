@testable import StatecastCore

// MARK: A log of numbers

/// Numbers in the order in which they were added.
struct Log: Codable, Equatable, Sendable {
    var entries: [Int] = []

    static let reducer = Reducer<Log> { log, action in
        guard let action = action as? Append else { return }
        log.entries.append(action.number)
    }
}

struct Append: Action, Equatable {
    var number: Int

    init(_ number: Int) {
        self.number = number
    }
}

/// Starts the effect of that name in a core of `effectCore`.
struct Perform: Action, Equatable {
    var effect: String

    init(_ effect: String) {
        self.effect = effect
    }
}

/// A core that appends numbers to a log, with a constant clock.
func logCore() -> Core<Log> {
    Core(Log(), reducer: Log.reducer, now: { .epoch })
}

/// A core that appends numbers to a log, and answers `Perform` with the effect of that name.
func effectCore(_ effects: [String: Effect]) -> Core<Log> {
    let performer = Reducer<Log> { _, action -> Effect in
        guard let action = action as? Perform else { return .none }
        return effects[action.effect] ?? .none
    }
    return Core(Log(), reducer: .combine(Log.reducer, performer), now: { .epoch })
}

/// The numbers that an effect sends before its start returns.
func delivered(by effect: Effect) -> [Int] {
    let numbers = Recorder<Int>()
    let runner = EffectRunner { result in
        if let append = result.action as? Append { numbers.record(append.number) }
        result.complete()
    }
    runner.start(effect, key: IdempotencyKey(revision: 1, index: 0))
    return numbers.all
}

// MARK: A state with nested parts

/// A state with nested parts.
struct Lorry: Equatable, Sendable {
    struct Tank: Equatable, Sendable {
        var fuel = 0
        let size = 100
    }

    /// An object whose deallocation is observable.
    final class Cargo: Sendable, Equatable {
        static func == (left: Cargo, right: Cargo) -> Bool { left === right }
    }

    var tank = Tank()
    var miles = 0
    var cargo = Cargo()

    static let reducer = Reducer<Lorry> { lorry, action in
        switch action {
        case let action as Refuelled: lorry.tank.fuel = action.fuel
        case let action as Driven: lorry.miles = action.miles
        case is Unloaded: lorry.cargo = Cargo()
        default: break
        }
    }

    /// A core with a constant clock.
    static func core(miles: Int = 0) -> Core<Lorry> {
        Core(Lorry(miles: miles), reducer: reducer, now: { .epoch })
    }
}

struct Refuelled: Action, Equatable {
    var fuel: Int
}

struct Driven: Action, Equatable {
    var miles: Int
}

struct Unloaded: Action, Equatable {}
