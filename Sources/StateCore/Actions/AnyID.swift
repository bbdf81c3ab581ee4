/// What tells one effect, command or slot from another: any value that can be compared.
///
/// The type counts as well: as `AnyHashable`, 1 and 1.0 are equal, but nobody means the same thing by them.
@usableFromInline
package struct AnyID: Hashable, Sendable {
    private let base: any Hashable & Sendable

    init(_ base: some Hashable & Sendable) { self.base = base }

    /// The value, to be shown.
    package var value: AnyHashable { AnyHashable(base) }

    @usableFromInline
    package static func == (left: AnyID, right: AnyID) -> Bool {
        type(of: left.base) == type(of: right.base) && left.value == right.value
    }

    @usableFromInline
    package func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
