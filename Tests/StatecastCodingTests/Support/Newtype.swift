/// A type with the encoding of its content.
struct Newtype<Content: Codable>: Codable {
    var content: Content

    init(content: Content) { self.content = content }
    init(from decoder: any Decoder) throws { content = try decoder.singleValueContainer().decode(Content.self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(content)
    }
}

extension Newtype: Equatable where Content: Equatable {}
extension Newtype: Sendable where Content: Sendable {}
