/// What `copy` does to an optional field: keep it, or set it, to nothing also.
///
/// A plain optional parameter cannot tell "left out" from "set to nil", and a double optional tells them apart by how
/// deep the nil sits, so that a literal and a variable mean different things. This type has a case for each, and `nil`
/// written in its place is always ``set(_:)``. A variable is passed as `.set(variable)`; without it the compiler objects.
///
/// ```swift
/// robot.copy(task: nil)              // cleared
/// robot.copy(task: "paint")          // set
/// robot.copy(task: .set(variable))   // set to what the variable holds, nil also
/// robot.copy(task: .keep)            // as if left out
/// ```
public enum OptionalChange<Wrapped> {
    /// The field stays as it is. The default of every parameter.
    case keep
    /// The field becomes this value, or nil.
    case set(Wrapped?)

    /// The field after the change.
    public func applied(to current: Wrapped?) -> Wrapped? {
        switch self {
        case .keep: current
        case .set(let value): value
        }
    }
}

extension OptionalChange: Equatable where Wrapped: Equatable {}
extension OptionalChange: Hashable where Wrapped: Hashable {}
extension OptionalChange: Sendable where Wrapped: Sendable {}
