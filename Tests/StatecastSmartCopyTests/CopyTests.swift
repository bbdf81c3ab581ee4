import StatecastSmartCopy
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

@SmartCopy
private struct Job: Equatable {
    let task: String?
    let priority: Optional<Int>
    let weight: Double!
    let urgent: Swift.Optional<Bool>
    let steps: ([String])?
    let parent: String??
}

@Suite struct OptionalFieldTests {
    private let job = Job(task: "paint", priority: 3, weight: 1.5, urgent: true, steps: ["a"], parent: "root")

    @Test func `a field that is left out keeps its value`() {
        #expect(job.copy() == job)
        #expect(job.copy(priority: 4).task == "paint")
    }

    @Test func `nil clears each spelling of an optional`() {
        let empty = job.copy(task: nil, priority: nil, weight: nil, urgent: nil, steps: nil, parent: nil)
        #expect(empty == Job(task: nil, priority: nil, weight: nil, urgent: nil, steps: nil, parent: nil))
    }

    @Test func `a literal sets the field`() {
        let floor = 2
        #expect(job.copy(task: "weld").task == "weld")
        #expect(job.copy(task: "floor \(floor)").task == "floor 2")
        #expect(job.copy(priority: -1).priority == -1)
        #expect(job.copy(weight: 2.5).weight == 2.5)
        #expect(job.copy(weight: 2).weight == 2)
        #expect(job.copy(urgent: false).urgent == false)
        #expect(job.copy(steps: ["x", "y"]).steps == ["x", "y"])
    }

    @Test func `a variable is set with its value`() {
        let task = "weld"
        let priority: Int? = 9
        let changed = job.copy(task: .set(task), priority: .set(priority))
        #expect(changed.task == "weld")
        #expect(changed.priority == 9)
    }

    @Test func `a variable that holds nil clears the field`() {
        let task: String? = nil
        let priority = [Int]().first
        let changed = job.copy(task: .set(task), priority: .set(priority))
        #expect(changed.task == nil)
        #expect(changed.priority == nil)
    }

    @Test func `keep is the same as no argument`() {
        #expect(job.copy(task: .keep, priority: nil).task == "paint")
    }

    @Test func `the two nils of a double optional stay apart`() {
        let inner: String? = nil
        let outer: String?? = nil
        #expect(job.copy(parent: .set(inner)).parent == .some(nil))
        #expect(job.copy(parent: .set(outer)).parent == .none)
        #expect(job.copy(parent: nil).parent == .none)
        #expect(job.copy(parent: .set("leaf")).parent == "leaf")
    }

    @Test func `a cleared field can be set again`() {
        #expect(job.copy(task: nil).copy(task: "weld").task == "weld")
    }
}

@Suite struct OptionalChangeTests {
    @Test func `keep leaves the value and set replaces it`() {
        #expect(OptionalChange<Int>.keep.applied(to: 1) == 1)
        #expect(OptionalChange<Int>.keep.applied(to: nil) == nil)
        #expect(OptionalChange.set(2).applied(to: 1) == 2)
        #expect(OptionalChange<Int>.set(nil).applied(to: 1) == nil)
    }

    @Test func `every literal is a set`() {
        #expect((nil as OptionalChange<Int>) == .set(nil))
        #expect((1 as OptionalChange<Int>) == .set(1))
        #expect((1 as OptionalChange<Double>) == .set(1))
        #expect((1.5 as OptionalChange<Double>) == .set(1.5))
        #expect((false as OptionalChange<Bool>) == .set(false))
        #expect(("a" as OptionalChange<String>) == .set("a"))
        #expect(("a" as OptionalChange<Character>) == .set("a"))
        #expect(("a" as OptionalChange<Unicode.Scalar>) == .set("a"))
        #expect(("a\(1)" as OptionalChange<String>) == .set("a1"))
        #expect(("a" as OptionalChange<StaticName>) == .set(StaticName(stringLiteral: "a")))
        #expect(([1, 2] as OptionalChange<[Int]>) == .set([1, 2]))
        #expect(([] as OptionalChange<[Int]>) == .set([]))
    }
}

/// A type of a user's own that a string literal makes.
private struct StaticName: ExpressibleByStringLiteral, Equatable {
    let name: String

    init(stringLiteral name: String) {
        self.name = name
    }
}
