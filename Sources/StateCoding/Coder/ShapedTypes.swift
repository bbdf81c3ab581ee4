/// Which types are shaped here.
enum ShapedTypes {
    struct Answer {
        let encodable: (any ShapedEncodable.Type)?
        let decodable: (any ShapedDecodable.Type)?
        /// Whose `==` tells whether a value changed.
        let equatable: (any Equatable.Type)?
    }

    private static let table = TypeTable<Answer>()

    static func answer(for type: Any.Type) -> Answer {
        table.answer(for: type) {
            Answer(
                encodable: type as? any ShapedEncodable.Type,
                decodable: type as? any ShapedDecodable.Type,
                equatable: type is any SelfComparing.Type ? nil : type as? any Equatable.Type
            )
        }
    }
}
