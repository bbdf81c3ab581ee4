/// Elements gathered by key, in the order in which the keys came.
struct KeyGroups<Element> {
    private(set) var all: [(key: Value, elements: [Element])] = []
    private var indexes: [Value: Int] = [:]

    mutating func append(_ element: Element, to key: Value) {
        if let index = indexes[key] {
            all[index].elements.append(element)
        } else {
            indexes[key] = all.count
            all.append((key, [element]))
        }
    }
}
