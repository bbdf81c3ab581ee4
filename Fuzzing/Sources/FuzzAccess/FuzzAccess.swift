/// libFuzzer calls this function with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try AccessLaws.check(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        fatalError("broken law: \(error)")
    }
    return 0
}
