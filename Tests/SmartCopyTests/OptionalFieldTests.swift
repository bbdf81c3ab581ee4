import SmartCopy
import Testing

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

    @Test func `keep is as if the field were left out`() {
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
