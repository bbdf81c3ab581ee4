/// What an effect is cancelled by: any value that can be compared.
///
/// The type counts as well: as `AnyHashable`, 1 and 1.0 are equal, but nobody means the same work by them.
@usableFromInline
package struct EffectID: Hashable, Sendable {
    private let base: any Hashable & Sendable

    init(_ base: some Hashable & Sendable) { self.base = base }

    /// The value, to be shown.
    package var value: AnyHashable { AnyHashable(base) }

    @usableFromInline
    package static func == (left: EffectID, right: EffectID) -> Bool {
        type(of: left.base) == type(of: right.base) && left.value == right.value
    }

    @usableFromInline
    package func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
