internal import HashTreeCollections

extension Dictionary: ShapedEncodable, KeyedCollection where Key: Encodable, Value: Encodable {
    typealias Content = Value
}

extension Dictionary: ShapedDecodable, KeyedDecodable where Key: Decodable, Value: Decodable {
    static func make(_ count: Int, reserving reservation: Int, _ next: () throws -> (Key, Value)) throws -> [Key:
        Value]?
    {
        var result: [Key: Value] = [:]
        result.reserveCapacity(reservation)
        for _ in 0..<count {
            let (key, value) = try next()
            guard result.updateValue(value, forKey: key) == nil else { return nil }
        }
        return result
    }

    static var sample: [Key: Value] { [:] }
}

extension TreeDictionary: ShapedEncodable, KeyedCollection where Key: Encodable, Value: Encodable {
    typealias Content = Value
}

extension TreeDictionary: ShapedDecodable, KeyedDecodable where Key: Decodable, Value: Decodable {
    static func make(_ count: Int, reserving reservation: Int, _ next: () throws -> (Key, Value)) throws
        -> TreeDictionary?
    {
        var result: TreeDictionary = [:]
        for _ in 0..<count {
            let (key, value) = try next()
            guard result.updateValue(value, forKey: key) == nil else { return nil }
        }
        return result
    }

    static var sample: TreeDictionary { [:] }
}
