extension CodingFailure {
    /// Any error that came out of a type's own coding at a place, as a failure that names the field.
    init(_ error: any Error, at place: Place) {
        self.init(error, path: place.codingPath)
    }

    init(_ error: any Error, path codingPath: [any CodingKey]) {
        func path(_ codingPath: [any CodingKey]) -> [String] { codingPath.map(\.component) }
        switch error {
        case let failure as CodingFailure: self = failure
        case DecodingError.keyNotFound(let key, let context):
            self.init(.missingKey, "missing the key \"\(key.component)\"", path: path(context.codingPath))
        case DecodingError.valueNotFound(let type, let context):
            self.init(.missingValue, "expected \(type), got nothing", path: path(context.codingPath))
        case DecodingError.typeMismatch(let type, let context):
            let message = "expected \(type): \(context.debugDescription)"
            self.init(.typeMismatch, message, path: path(context.codingPath))
        case DecodingError.dataCorrupted(let context):
            self.init(.refusedByType, context.debugDescription, path: path(context.codingPath))
        case EncodingError.invalidValue(let value, let context):
            let message = "\(type(of: value)) cannot be encoded: \(context.debugDescription)"
            self.init(.unencodable, message, path: path(context.codingPath))
        default:
            self.init(.refusedByType, "\(error)", path: path(codingPath))
        }
    }

    /// What to throw where a class instance stands, or could.
    static func classInstance(_ type: Any.Type, path: [String]) -> CodingFailure {
        let message = "\(type) is a class: its changes cannot be seen; make it a struct"
        return CodingFailure(.unencodable, message, path: path)
    }

    static func classInstance(_ type: Any.Type, at place: Place) -> CodingFailure {
        classInstance(type, path: place.codingPath.map(\.component))
    }
}
