/// Effects collected one by one, to be merged once.
///
/// Merging each with those before would copy them every time. No memory is taken before there are two.
struct EffectList {
    private var first = Effect.none
    private var others: [Effect] = []

    mutating func append(_ effect: Effect) {
        guard !effect.isNone else { return }
        if first.isNone {
            first = effect
        } else {
            others.append(effect)
        }
    }

    /// All of them, in order.
    var merged: Effect { others.isEmpty ? first : .merge([first] + others) }
}
