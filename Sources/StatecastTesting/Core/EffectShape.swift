public import StateCore

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
        case .cancel(let id): "cancel(id: \(id))"
        case .merge(let shapes): "merge(\(shapes.map(\.description).joined(separator: ", ")))"
        case .sequence(let shapes): "sequence(\(shapes.map(\.description).joined(separator: ", ")))"
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
            }
        }
    }

    /// A sequence within a sequence is one sequence.
    private var sequenceShapes: [EffectShape] {
        if case .sequence(let shapes) = shape { shapes } else { shape.map { [$0] } ?? [] }
    }
}
