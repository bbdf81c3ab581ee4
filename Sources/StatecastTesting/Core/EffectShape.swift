public import StatecastCore

/// The structure of an effect, without its work.
///
/// A test describes expected effects with the same names as a reducer:
///
/// ```swift
/// let expected: [EffectShape] = [.cancel(id: "load"), .run(id: "load")]
/// ```
public indirect enum EffectShape {
    /// `Effect.dispatch`.
    case dispatch(any Action)
    /// `Effect.run`, with its id if it has one. A ``TestCore`` shows the result of the work.
    case run(id: AnyHashable? = nil)
    /// `Effect.blocking`, with its id if it has one.
    case blocking(id: AnyHashable? = nil)
    /// `Effect.delay`, with its id if it has one. `Effect.debounce` is `cancel` and `delay`.
    case delay(any Action, for: Duration, id: AnyHashable? = nil)
    /// `Effect.repeat`.
    case `repeat`(any Action, every: Duration, id: AnyHashable)
    /// `Effect.cancel`.
    case cancel(id: AnyHashable)
    /// `Effect.merge`, inside a sequence only: an outer one is the list of its parts.
    case merge([EffectShape])
    /// `Effect.sequence`.
    case sequence([EffectShape])
}

extension EffectShape: Equatable {
    /// Compares the parts; actions by `==` if their type has it, by their fields otherwise.
    public static func == (left: EffectShape, right: EffectShape) -> Bool {
        switch (left, right) {
        case (.dispatch(let left), .dispatch(let right)): isSame(left, right)
        case (.run(let left), .run(let right)): left == right
        case (.blocking(let left), .blocking(let right)): left == right
        case (.delay(let left, let leftDelay, let leftID), .delay(let right, let rightDelay, let rightID)):
            leftDelay == rightDelay && leftID == rightID && isSame(left, right)
        case (.repeat(let left, let leftPeriod, let leftID), .repeat(let right, let rightPeriod, let rightID)):
            leftPeriod == rightPeriod && leftID == rightID && isSame(left, right)
        case (.cancel(let left), .cancel(let right)): left == right
        case (.merge(let left), .merge(let right)): left == right
        case (.sequence(let left), .sequence(let right)): left == right
        default: false
        }
    }
}

extension EffectShape: CustomStringConvertible {
    /// The spelling in a reducer: `run(id: load)`.
    public var description: String {
        switch self {
        case .dispatch(let action): "dispatch(\(action))"
        case .run(let id): id.map { "run(id: \($0))" } ?? "run"
        case .blocking(let id): id.map { "blocking(id: \($0))" } ?? "blocking"
        case .delay(let action, let delay, let id):
            "delay(\(action), for: \(delay)\(id.map { ", id: \($0)" } ?? ""))"
        case .repeat(let action, let period, let id): "repeat(\(action), every: \(period), id: \(id))"
        case .cancel(let id): "cancel(id: \(id))"
        case .merge(let shapes): "merge(\(shapes.map(\.description).joined(separator: ", ")))"
        case .sequence(let shapes): "sequence(\(shapes.map(\.description).joined(separator: ", ")))"
        }
    }
}

extension EffectShape {
    /// The id of one unit of work or one timer, or nil.
    var id: AnyHashable? {
        switch self {
        case .run(let id), .blocking(let id), .delay(_, _, let id): id
        case .repeat(_, _, let id): id
        case .dispatch, .cancel, .merge, .sequence: nil
        }
    }

    var isTimer: Bool {
        switch self {
        case .delay, .repeat: true
        case .dispatch, .run, .blocking, .cancel, .merge, .sequence: false
        }
    }
}

extension Effect {
    /// The effects that this one starts concurrently, in order; empty if there is nothing to do.
    var parts: [Effect] {
        switch operation {
        case nil: []
        case .merge(let effects): effects.flatMap(\.parts)
        default: [self]
        }
    }

    /// The shape of each part.
    var shapes: [EffectShape] { parts.compactMap(\.shape) }

    /// The shape of a part; nil if there is nothing to do.
    var shape: EffectShape? {
        switch operation {
        case nil: nil
        case .dispatch(let action): .dispatch(action)
        case .cancel(let id): .cancel(id: id.value)
        case .merge: .merge(shapes)
        case .sequence(let effects): .sequence(effects.flatMap(\.sequenceShapes))
        case .run(let work):
            switch work.body {
            case .run: .run(id: work.id?.value)
            case .blocking: .blocking(id: work.id?.value)
            case .timer(let timer):
                if timer.isRepeating, let id = work.id {
                    .repeat(timer.action, every: timer.delay, id: id.value)
                } else {
                    .delay(timer.action, for: timer.delay, id: work.id?.value)
                }
            }
        }
    }

    /// A sequence within a sequence is one sequence.
    private var sequenceShapes: [EffectShape] {
        if case .sequence(let shapes) = shape { shapes } else { shape.map { [$0] } ?? [] }
    }
}
