/// A `Decoder` that answers with the content of an old newtype, changed as a patch changes it: the mirror of
/// `NewtypeContainer`.
///
/// Only the type that was written is answered, and only in a single-value container. A type that asks for anything else,
/// be it just to try it, has to be decoded from its tree.
final class NewtypeDecoder: Decoder, SingleValueDecodingContainer {
    private struct OtherRequest: Error {}

    private let content: any Encodable
    private let patch: Patch
    private let place: Place
    private var hasOtherRequests = false
    /// What does not fit: a type may do without what it cannot decode, but not take half a patch.
    private var misfit: (any Error)?

    init(_ content: any Encodable, _ patch: Patch, at place: Place) {
        self.content = content
        self.patch = patch
        self.place = place
    }

    var codingPath: [any CodingKey] { place.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Has a type decode itself.
    ///
    /// - Returns: `nil` if it asked for something else than its content.
    func newtype<T: Decodable>(_ type: T.Type) throws -> T? {
        do {
            let result = try T(from: self)
            if let misfit { throw misfit }
            return hasOtherRequests ? nil : result
        } catch {
            if misfit == nil && hasOtherRequests { return nil }
            throw CodingFailure(misfit ?? error, at: place)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw refusal() }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw refusal() }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// What a patch of its parts makes of a value has parts; a sequence may end in anything.
    func decodeNil() -> Bool {
        if patch.parts.contains(where: \.isReplacement) { hasOtherRequests = true }
        return false
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        do {
            guard !hasOtherRequests, let result = try patch.applied(to: content, as: type, at: place) else {
                throw refusal()
            }
            return result
        } catch let failure as CodingFailure where failure.code == .patchMismatch {
            misfit = misfit ?? failure
            throw failure
        }
    }

    private func refusal() -> any Error {
        hasOtherRequests = true
        return OtherRequest()
    }
}
