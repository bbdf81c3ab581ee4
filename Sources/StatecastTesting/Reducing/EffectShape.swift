public import StateCore

/// What an effect is made of, as far as it can be told without doing the work.
///
/// A test says what it expects in the same words that a reducer uses:
///
/// ```swift
/// let expected: [EffectShape] = [.cancel(id: "load"), .run(id: "load")]
/// ```
public indirect enum EffectShape {
    /// `Effect.dispatch`.
    case dispatch(any Action)
    /// `Effect.run`, with its id if it has one. What the work does shows in a ``TestCore``.
    case run(id: AnyHashable? = nil)
    /// `Effect.blocking`, with its id if it has one.
    case blocking(id: AnyHashable? = nil)
    /// `Effect.cancel`.
    case cancel(id: AnyHashable)
    /// `Effect.merge`: only inside a sequence, since one around everything is the list of its parts.
    case merge([EffectShape])
    /// `Effect.sequence`.
    case sequence([EffectShape])
}

extension EffectShape: Equatable {
    /// Whether both are made of the same parts; actions are compared by `==` where they have one, by their fields where
    /// not.
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
    /// As a reducer would write it: `run(id: load)`.
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
