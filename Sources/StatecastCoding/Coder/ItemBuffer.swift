#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

/// Lends the items in an array of bytes to a closure, to be decoded one after another: payloads of actions, which may
/// come from JSON.
///
/// All of them use one source with its spare decoders, which otherwise each value acquires and releases. Every item is
/// decoded, and fails, as a `StateDecoder` that accepts the forms of JSON decodes a copy of its bytes; offsets in
/// failures count from its start.
package struct ItemBuffer: ~Copyable {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let decoder: StateDecoder
    private let source: Source

    /// The source of the items that are still to come. An object, because a borrowed buffer replaces it.
    private final class Source {
        // One item at a time is decoded, so dynamic exclusivity checks would find nothing.
        @exclusivity(unchecked) var current = DecodingSource.acquire()

        deinit { DecodingSource.release(current) }
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>, limits: CodingLimits) {
        self.bytes = bytes
        decoder = StateDecoder(limits: limits, acceptsJSONForms: true)
        source = Source()
    }

    /// Calls `body` with the items in `bytes`. Ranges count from the start of the slice.
    package static func withItems<Result, Failure>(
        _ bytes: ArraySlice<UInt8>,
        limits: CodingLimits = .standard,
        _ body: (borrowing ItemBuffer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBufferPointer { bytes throws(Failure) in try body(ItemBuffer(bytes, limits: limits)) }
    }

    /// Decodes the item that fills a range.
    ///
    /// - Throws: as `StateDecoder.decode(_:from:)`.
    package borrowing func decode<T: Decodable>(_ type: T.Type, at range: Range<Int>) throws(CodingFailure) -> T {
        let item = UnsafeBufferPointer(rebasing: bytes[range])
        guard DeterministicCheck.passes(item, decoder.limits) else {
            return try decoder.decode(type, from: Array(item))
        }
        do {
            return try DecodingSource.run(&source.current, item, acceptsJSONForms: true) {
                try decoder.decode(type, from: $0)
            }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }

    /// Whether a range begins with some bytes.
    package borrowing func hasPrefix(_ prefix: [UInt8], at range: Range<Int>) -> Bool {
        let item = UnsafeBufferPointer(rebasing: bytes[range])
        guard let start = item.baseAddress, item.count >= prefix.count else { return prefix.isEmpty }
        return memcmp(start, prefix, prefix.count) == 0
    }

    /// A copy of a range.
    package borrowing func copy(of range: Range<Int>) -> [UInt8] { Array(bytes[range]) }
}
