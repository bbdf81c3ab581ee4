/// Which types are shaped here, and what else is asked of each type again and again.
enum ShapedTypes {
    struct Answer {
        let encodable: (any ShapedEncodable.Type)?
        let decodable: (any ShapedDecodable.Type)?
        /// Whose `==` tells whether a value changed. Not a class's: both sides may be one instance, whatever became of it.
        let equatable: (any Equatable.Type)?
        /// The type if it is a class, or the first class among the types of its parts: a value that no state may hold.
        let classType: Any.Type?

        fileprivate init(for type: Any.Type) {
            encodable = type as? any ShapedEncodable.Type
            decodable = type as? any ShapedDecodable.Type
            let partTypes = encodable?.partTypes ?? []
            classType =
                type is AnyObject.Type
                ? type : partTypes.lazy.compactMap { ShapedTypes.answer(for: $0).classType }.first
            let isTold = classType == nil && !(type is any SelfComparing.Type)
            equatable = isTold ? type as? any Equatable.Type : nil
        }
    }

    private static let table = TypeTable<Answer>()

    // Most callers want one part of the answer: inlined, the others are not copied.
    @inline(__always)
    static func answer(for type: Any.Type) -> Answer { table.answer(for: type) { Answer(for: type) } }
}
