import StatecastCore
import StatecastJournal
import StatecastProtocol
import Testing

@Suite struct `A crash marker` {
    private let page = UnsafeMutableRawPointer.allocate(byteCount: CrashMarker.byteCount, alignment: 8)

    init() { page.initializeMemory(as: UInt8.self, repeating: 0, count: CrashMarker.byteCount) }

    private func session(_ number: Int) -> SessionID { SessionID(high: UInt64(number), low: 1) }

    /// The marker of the next incarnation.
    private func marker() -> CrashMarker {
        let marker = CrashMarker(page: page)
        marker.open()
        return marker
    }

    private func crash(_ times: UInt64 = 1, of number: Int) {
        for _ in 0..<times { marker().begin(session(number), ActionNumber(1)) }
    }

    private func suspect(_ number: Int, isPoison: Bool) -> Suspect {
        Suspect(session: session(number), number: ActionNumber(1), isPoison: isPoison)
    }

    @Test func `A crash marker suspects an action that was begun and not ended`() {
        defer { page.deallocate() }
        marker().begin(session(1), ActionNumber(1))
        let second = marker()
        #expect(second.suspects == [suspect(1, isPoison: false)])
        second.begin(session(2), ActionNumber(1))
        second.end()
        #expect(marker().suspects == [suspect(1, isPoison: false)])
    }

    @Test func `A crash marker rejects an action after the given number of crashes`() {
        defer { page.deallocate() }
        crash(CrashMarker.maxCrashes - 1, of: 1)
        #expect(marker().suspects == [suspect(1, isPoison: false)])
        crash(of: 1)
        #expect(marker().suspects == [suspect(1, isPoison: true)])
    }

    @Test func `A crash marker counts crashes with those of other actions in between`() {
        defer { page.deallocate() }
        for _ in 1...CrashMarker.maxCrashes {
            crash(of: 1)
            crash(of: 2)
        }
        #expect(marker().suspects == [suspect(1, isPoison: true), suspect(2, isPoison: true)])
    }

    @Test func `A crash marker clears an action whose outcome is durable`() {
        defer { page.deallocate() }
        crash(CrashMarker.maxCrashes, of: 1)
        let last = marker()
        last.resolve(session(1), ActionNumber(2))
        #expect(last.suspects == [suspect(1, isPoison: true)])
        for _ in 1...2 {
            last.resolve(session(1), ActionNumber(1))
            #expect(last.suspects.isEmpty)
        }
        #expect(marker().suspects.isEmpty)
        crash(of: 1)
        #expect(marker().suspects == [suspect(1, isPoison: false)])
    }

    @Test func `A crash marker drops the oldest suspect if it is full`() {
        defer { page.deallocate() }
        for number in 1...100 { crash(of: number) }
        for _ in 2...CrashMarker.maxCrashes {
            crash(of: 99)
            crash(of: 100)
        }
        let expected = (101 - CrashMarker.maxSuspects...100).map { suspect($0, isPoison: $0 >= 99) }
        #expect(marker().suspects == expected)
    }
}
