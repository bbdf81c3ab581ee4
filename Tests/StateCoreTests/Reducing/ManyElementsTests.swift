import StateCore
import Testing

@Suite struct `A reducer at work on 100,000 elements` {
    private struct Whole {
        var rows = Array(0..<100_000)
    }

    @Test func `starts the effects of all of them, in order`() {
        let row = Reducer<Int> { row, _ -> Effect in .dispatch(Append(row)) }
        var whole = Whole()
        let context = ActionContext(time: .epoch)
        let effect = row.forEach(\Whole.rows).reduce(into: &whole, Perform("all"), context: context)
        let isInOrder = delivered(by: effect) == whole.rows
        #expect(isInOrder)
    }
}
