// A literal in the place of a change sets the field. None of them can mean `keep`, so nothing is lost by accepting them.
// Sets and dictionaries are missing: their literals arrive as variadic elements, which cannot be handed on.

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
