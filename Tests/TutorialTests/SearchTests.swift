import Foundation
import StatecastCore
import StatecastTesting
import Testing

@Suite struct SearchTests {
    @Test func `a search runs once, after a pause`() async {
        let core = TestCore(Search(), reducer: Search.reducer { ["\($0)!"] })
        await core.send(TextChanged(text: "Du")) { $0.text = "Du" }
        core.advance(by: .milliseconds(200))
        await core.send(TextChanged(text: "Dune")) { $0.text = "Dune" }
        core.advance(by: .milliseconds(300))
        await core.receive(SearchRequested()) { $0.lastSearch = core.time }
        await core.receive(ResultsFound(results: ["Dune!"])) { $0.results = ["Dune!"] }
        #expect(core.state.lastSearchDate?.timeIntervalSince1970 == 0.5)
        await core.finish()
    }
}
