extension [UInt8] {
    /// Without the mark that some editors put in front of UTF-8.
    var withoutByteOrderMark: ArraySlice<UInt8> { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...] }
}
