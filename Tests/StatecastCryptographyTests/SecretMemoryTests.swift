import StatecastCryptography
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite struct `Memory for a secret` {
    @Test func `Memory for a secret has the bytes that were written`() {
        let memory = SecretMemory(byteCount: 5) { bytes in for index in 0..<3 { bytes[index] = UInt8(index + 1) } }
        #expect(memory.withBytes { Array($0) } == [1, 2, 3, 0, 0])
    }

    #if os(Linux)
        /// The flag `dd` of a mapping in /proc/self/smaps: its pages are left out of core dumps.
        @Test func `Memory for a secret is in no core dump`() throws {
            let memory = SecretMemory(byteCount: 41) { _ in }
            let address = memory.withBytes { UInt(bitPattern: $0.baseAddress) }
            let maps = try #require(fopen("/proc/self/smaps", "r"))
            defer { fclose(maps) }
            var line = [CChar](repeating: 0, count: 4096)
            var isInside = false
            var flags: [Substring]?
            while flags == nil, fgets(&line, Int32(line.count), maps) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                let ends = (text.split(separator: " ").first ?? "").split(separator: "-").map { UInt($0, radix: 16) }
                if ends.count == 2, let start = ends[0], let end = ends[1] {
                    isInside = (start..<end).contains(address)
                } else if isInside, text.hasPrefix("VmFlags:") {
                    flags = text.split { $0 == " " || $0 == "\n" }
                }
            }
            #expect(flags?.contains("dd") == true, "\(flags ?? [])")
        }
    #endif

    @Test func `Memory for a secret wipes bytes`() {
        var bytes: [UInt8] = [1, 2, 3]
        SecretMemory.wipe(&bytes)
        #expect(bytes == [0, 0, 0])
    }
}
