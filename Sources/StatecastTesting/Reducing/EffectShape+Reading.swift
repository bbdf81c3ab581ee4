internal import StateCore

extension Effect {
    /// What the effect starts side by side, in order; empty if there is nothing to do.
    var parts: [Effect] {
        switch operation {
        case nil: []
        case .merge(let effects): effects.flatMap(\.parts)
        default: [self]
        }
    }

    /// What the effect is made of, part by part.
    var shapes: [EffectShape] { parts.compactMap(\.shape) }

    /// What one effect is made of; nil if there is nothing to do.
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
