/// There is no `nil` literal: beside `Value?`, where `nil` says that nothing is there, it would say `.null` by surprise.
extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self.init(value) }
    /// A float, even if integral: `1.0`.
    public init(floatLiteral value: Double) { self = .float(value) }
    /// A text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// An array.
    public init(arrayLiteral elements: Value...) { self = .array(elements) }
    /// A map; of two entries with one key the later stays.
    public init(dictionaryLiteral elements: (Value, Value)...) { self = .map(ValueMap(elements)) }
}
