extension StateDecoder {
    /// Decodes what another build has written, so that nothing of it is lost.
    ///
    /// A required field that is missing is filled. It takes one reading for each such field of a type, however many rows
    /// lack it.
    ///
    /// - Throws: `unknownKey` for a field that no type knows; `missingKey` for one that has no default; what else
    ///   `decode(_:from:)` throws.
    package func decode<T: Decodable>(
        _ type: T.Type,
        from value: Value,
        filling defaults: FieldDefaults
    ) throws(CodingFailure) -> T {
        let bytes = value.encoded
        let evolution = Evolution(defaults)
        while true {
            do throws(CodingFailure) {
                let result = try decode(type, from: bytes, evolution)
                if let lost = evolution.lost { throw lost }
                return result
            } catch {
                guard evolution.goesOn(after: error) else { throw error }
            }
        }
    }

    private func decode<T: Decodable>(
        _ type: T.Type,
        from bytes: [UInt8],
        _ evolution: Evolution
    ) throws(CodingFailure) -> T {
        do {
            return try DecodingSource.run(deterministic: bytes) { source in
                evolution.begin()
                source.evolution = evolution
                defer { source.evolution = nil }
                return try decode(type, from: source)
            }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }
}
