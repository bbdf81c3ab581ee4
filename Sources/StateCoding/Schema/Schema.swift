/// What a type looks like, found out without an instance: its own `init(from:)` is run by a decoder that answers every
/// request with a plain sample, and writes down what was asked.
///
/// A type whose `init(from:)` refuses plain samples (an enum with payloads, or with raw values that are not
/// `CaseIterable`) cannot be built so. Conform it to `SchemaExample` to offer an instance.
public enum Schema {
    /// A plain instance as a tree: 0, "", false, empty collections, the first of all cases, optionals filled in.
    ///
    /// - Returns: `nil` if the type, or a required field of it, cannot be built from plain samples.
    public static func example<T: Decodable>(of type: T.Type) -> Value? {
        let probe = SchemaProbe()
        guard let instance = try? probe.sample(of: type), let encodable = instance as? any Encodable else { return nil }
        return try? StateEncoder().value(of: encodable)
    }

    /// A number for the keys and the kinds of the fields, all the way down: the same in every process and build.
    ///
    /// The names of types and the order of fields do not count. What follows a required field that cannot be built is
    /// not seen: the probe ends there.
    public static func fingerprint<T: Decodable>(of type: T.Type) -> UInt64 {
        var hash = FNV1a()
        hash.combine(SchemaProbe().shape(of: type).tree.encoded)
        return hash.mixed
    }
}

/// A type that offers an instance of itself, as plain samples do not make one.
public protocol SchemaExample {
    static var schemaExample: Self { get }
}
