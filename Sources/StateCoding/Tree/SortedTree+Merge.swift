extension SortedTree {
    /// Sets, or with `nil` removes, the elements of many keys; of two with one key the later stays.
    mutating func merge(_ changes: some Sequence<(key: Key, element: Payload?)>) {
        for (key, element) in changes {
            if let element { updateValue(element, forKey: key) } else { removeValue(forKey: key) }
        }
    }
}
