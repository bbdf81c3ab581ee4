import StateCore

/// A state with parts in parts.
struct Lorry: Equatable, Sendable {
    struct Tank: Equatable, Sendable {
        var fuel = 0
        let size = 100
    }

    /// Something whose life can be followed.
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

    /// A core under a clock that stands still.
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
