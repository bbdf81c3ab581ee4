/// A `Decoder` that returns the patched content of an old newtype: the mirror of `NewtypeContainer`.
///
/// It returns only the type that was encoded, and only from a single-value container. A type that asks for anything
/// else, even to try it, is decoded from its tree.
final class NewtypeDecoder: Decoder, SingleValueDecodingContainer {
    private struct OtherRequest: Error {}

    private let content: any Encodable
    private let patch: PatchItem
    private let place: CodingPath
    private var hasOtherRequests = false
    /// A mismatch: a type may ignore a value that it cannot decode, but a patch is applied as a whole.
    private var misfit: (any Error)?

    init(_ content: any Encodable, _ patch: PatchItem, at place: CodingPath) {
        self.content = content
        self.patch = patch
        self.place = place
    }

    var codingPath: [any CodingKey] { place.keys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Lets a type decode itself.
    ///
    /// - Returns: `nil` if it asked for anything but its content.
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

    /// A value with patched parts is not null. A sequence with a replacement may end with null, so the request counts
    /// as another one.
    func decodeNil() -> Bool {
        if patch.replacesInBetween { hasOtherRequests = true }
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
