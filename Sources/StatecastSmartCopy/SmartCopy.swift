#if SmartCopy
    /// Gives an immutable struct `copy(field: ...)`, which returns the same value with some fields replaced.
    ///
    /// It exists with the package trait `SmartCopy` only: `.package(url: ..., traits: [.defaults, "SmartCopy"])`.
    ///
    /// A reducer that changes one field of a struct of constants has to call an initializer with all fields. `copy`
    /// needs only the fields that change.
    ///
    /// ```swift
    /// @SmartCopy
    /// struct Robot {
    ///     let id: Int
    ///     let name: String
    ///     let task: String?
    /// }
    ///
    /// let idle = Robot(id: 7, name: "Ada", task: nil)
    /// let busy = idle.copy(task: "paint")                // 7, Ada, paint
    /// let other = busy.copy(id: 8, name: "Grace")        // 8, Grace, paint
    /// let done = busy.copy(task: nil)                    // 7, Ada, nil
    /// let next = done.copy(task: .set(queue.first))      // 7, Ada, and the first of the queue or nil
    /// ```
    ///
    /// **Fields.** `copy` has one parameter for each stored property that an initializer can set, in the order of
    /// declaration: not for computed, static and lazy properties, nor for a `let` with an initial value.
    ///
    /// - The parameter of a field that is not optional has the field's type; without an argument, or with `nil`, it
    ///   keeps its value.
    /// - The parameter of an optional field has the type ``OptionalChange``, because there `nil` is a value: without an
    ///   argument it keeps its value, `nil` clears it, a literal or `.set(value)` sets it. The macro recognizes the
    ///   spellings `T?`, `T!` and `Optional<T>`. A type alias for an optional, or a generic parameter that is one,
    ///   counts as not optional, and there the literal `nil` keeps the value.
    ///
    /// **Access.** `copy` is as visible as the struct. A property that is less visible than the struct gets no
    /// parameter; the copy has the original's value. In a file that imports with `internal` by default, a public struct
    /// with a public optional field needs `public import StatecastSmartCopy`.
    ///
    /// **Initializer.** `copy` calls the memberwise initializer. A struct whose body declares initializers has none;
    /// then one of them must have a parameter for every field under its name (other parameters need a default), or the
    /// macro reports which is missing. Initializers in an extension leave the memberwise one in place.
    ///
    /// **Errors**, each with a message at the property: property wrappers (a copy would create a new wrapper without
    /// the state of the old one), tuple patterns, stored properties inside `#if`, `some` types, init accessors, and a
    /// `var` without a written type whose initial value is not a plain literal: macros see text, not types.
    @attached(member, names: named(copy))
    public macro SmartCopy() = #externalMacro(module: "StatecastSmartCopyMacros", type: "SmartCopyMacro")
#endif

/// A change of an optional field by `copy`: keep its value, or set it, including to nil.
///
/// A plain optional parameter cannot distinguish "no argument" from "set to nil". A double optional can, but a literal
/// `nil` and a variable that holds nil mean different things there. This type has a case for each; the literal `nil` is
/// always ``set(_:)``. Pass a variable as `.set(variable)`.
///
/// ```swift
/// robot.copy(task: nil)              // cleared
/// robot.copy(task: "paint")          // set
/// robot.copy(task: .set(variable))   // set to the variable's value, or cleared
/// robot.copy(task: .keep)            // the same as no argument
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

// A literal sets the field; no literal means `keep`. Sets and dictionaries are missing: their literals arrive as
// variadic elements, which cannot be passed on.

extension OptionalChange: ExpressibleByNilLiteral {
    /// Clears the field.
    public init(nilLiteral: ()) {
        self = .set(nil)
    }
}

extension OptionalChange: ExpressibleByBooleanLiteral where Wrapped: ExpressibleByBooleanLiteral {
    /// Sets the field.
    public init(booleanLiteral value: Wrapped.BooleanLiteralType) {
        self = .set(Wrapped(booleanLiteral: value))
    }
}

extension OptionalChange: ExpressibleByIntegerLiteral where Wrapped: ExpressibleByIntegerLiteral {
    /// Sets the field.
    public init(integerLiteral value: Wrapped.IntegerLiteralType) {
        self = .set(Wrapped(integerLiteral: value))
    }
}

extension OptionalChange: ExpressibleByFloatLiteral where Wrapped: ExpressibleByFloatLiteral {
    /// Sets the field.
    public init(floatLiteral value: Wrapped.FloatLiteralType) {
        self = .set(Wrapped(floatLiteral: value))
    }
}

extension OptionalChange: ExpressibleByUnicodeScalarLiteral where Wrapped: ExpressibleByUnicodeScalarLiteral {
    /// Sets the field.
    public init(unicodeScalarLiteral value: Wrapped.UnicodeScalarLiteralType) {
        self = .set(Wrapped(unicodeScalarLiteral: value))
    }
}

extension OptionalChange: ExpressibleByExtendedGraphemeClusterLiteral
where Wrapped: ExpressibleByExtendedGraphemeClusterLiteral {
    /// Sets the field.
    public init(extendedGraphemeClusterLiteral value: Wrapped.ExtendedGraphemeClusterLiteralType) {
        self = .set(Wrapped(extendedGraphemeClusterLiteral: value))
    }
}

extension OptionalChange: ExpressibleByStringLiteral where Wrapped: ExpressibleByStringLiteral {
    /// Sets the field.
    public init(stringLiteral value: Wrapped.StringLiteralType) {
        self = .set(Wrapped(stringLiteral: value))
    }
}

extension OptionalChange: ExpressibleByStringInterpolation
where
    Wrapped: ExpressibleByStringInterpolation,
    Wrapped.StringInterpolation.StringLiteralType == Wrapped.StringLiteralType
{
    /// Sets the field.
    public init(stringInterpolation: Wrapped.StringInterpolation) {
        self = .set(Wrapped(stringInterpolation: stringInterpolation))
    }
}

extension OptionalChange: ExpressibleByArrayLiteral
where
    Wrapped: RangeReplaceableCollection & ExpressibleByArrayLiteral,
    Wrapped.ArrayLiteralElement == Wrapped.Element
{
    /// Sets the field.
    public init(arrayLiteral elements: Wrapped.Element...) {
        self = .set(Wrapped(elements))
    }
}
