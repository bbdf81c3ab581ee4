/// Identifies an effect, a command or a slot by any hashable value.
///
/// Unlike `AnyHashable`, values of different types are different: 1 and 1.0 are two ids.
@usableFromInline
package struct AnyID: Hashable, Sendable {
    private let base: any Hashable & Sendable

    init(_ base: some Hashable & Sendable) { self.base = base }

    /// The value, for display.
    package var value: AnyHashable { AnyHashable(base) }

    @usableFromInline
    package static func == (left: AnyID, right: AnyID) -> Bool {
        type(of: left.base) == type(of: right.base) && left.value == right.value
    }

    @usableFromInline
    package func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
