/// What a type looks like, found out without an instance: its own `init(from:)` is run by a decoder that answers every
/// request with a plain sample, and writes down what was asked. An enum with payloads is run once for each case.
///
/// A type whose `init(from:)` refuses plain samples (a price that must be above 0, a text in a format), or an enum of
/// one case, cannot be built so. Conform it to `SchemaExample` to offer an instance.
public enum Schema {
    /// A plain instance as a tree: 0, "", false, empty collections, the first of all cases, optionals filled in.
    ///
    /// - Returns: `nil` if the type, or a required field of it, cannot be built from plain samples.
    public static func example<T: Decodable>(of type: T.Type) -> Value? {
        guard let encodable = SchemaProbe().visit(type).instance as? any Encodable else { return nil }
        return try? StateEncoder().value(of: encodable)
    }

    /// A number for the keys and the kinds of the fields, all the way down: the same in every process and build.
    ///
    /// It changes with the name, the kind or the optionality of a field, with a case of an enum and its payload. The
    /// names of types, the order of fields and cases, and how wide an integer is do not count; nor does which
    /// collection it is, as long as it is written in the same way: a `Table` is a dictionary, a `Set` an array.
    ///
    /// Not seen are
    /// - what follows a required field that cannot be built, in the type that it is a field of: the probe ends there
    ///   (see `SchemaExample`);
    /// - fields that `init(from:)` asks for only if others hold something;
    /// - the cases of an enum that has only one, or more than 255, unless it is `CaseIterable`;
    /// - what a value means: its unit, its bounds, a default that stands for an absent field.
    public static func fingerprint<T: Decodable>(of type: T.Type) -> UInt64 {
        SchemaProbe().shape(of: type).fingerprint
    }
}

/// A type that offers an instance of itself, as plain samples do not make one.
///
/// Where its `init(from:)` cannot be run on samples, the fingerprint sees the instance's encoding instead: the same
/// keys and kinds must be there in every build.
public protocol SchemaExample {
    /// An instance that is the same in every process.
    static var schemaExample: Self { get }
}
