extension RandomAccessCollection where Index == Int {
    /// The index of the first element that meets a condition, which all later ones meet, too; by binary search.
    @inlinable
    package func partitioningIndex(where meets: (Element) -> Bool) -> Int {
        var (lower, upper) = (startIndex, endIndex)
        while lower < upper {
            let middle = lower + (upper - lower) / 2
            if meets(self[middle]) { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}
