import SmartCopy
import Testing

@SmartCopy
private struct Robot: Equatable {
    let id: Int
    let name: String
    let route: [Int]
}

@Suite struct CopyTests {
    private let robot = Robot(id: 7, name: "Ada", route: [1, 2])

    @Test func `a field that is given changes and the others stay`() {
        #expect(robot.copy(name: "Grace") == Robot(id: 7, name: "Grace", route: [1, 2]))
    }

    @Test func `several fields change at once`() {
        #expect(robot.copy(id: 8, route: []) == Robot(id: 8, name: "Ada", route: []))
    }

    @Test func `a copy without a change is the same value`() {
        #expect(robot.copy() == robot)
    }

    @Test func `nil keeps a field that is not optional`() {
        let name: String? = nil
        #expect(robot.copy(id: nil, name: name) == robot)
    }

    @Test func `a value in an optional variable sets a field that is not optional`() {
        let name: String? = "Grace"
        #expect(robot.copy(name: name).name == "Grace")
    }

    @Test func `copies can be chained`() {
        #expect(robot.copy(id: 8).copy(name: "Grace") == Robot(id: 8, name: "Grace", route: [1, 2]))
    }
}
