public import StatecastSmartCopy
import Testing

@SmartCopy
private struct Page<Item: Equatable, Key> where Key: Hashable {
    let items: [Item]
    let first: Item
    let last: Item?
    let index: [Key: Int]
}

private enum Fleet {}

extension Fleet {
    @SmartCopy
    struct Robot {
        let id: Int
        let arm: Arm?

        @SmartCopy
        struct Arm: Equatable {
            let reach: Double
            let tool: Tool?

            enum Tool { case brush, torch }
        }
    }
}

@SmartCopy
private struct Ordered {
    let a: Int
    let b: Int?

    /// Has parameters for the fields in another order, and one for no field.
    init(b: Int?, step: Int = 1, a: Int) {
        self.a = a * step
        self.b = b
    }

    init(a: Int) {
        self.init(b: nil, a: a)
    }
}

@SmartCopy
private struct Extended {
    let a: Int
    let b: Int
}

extension Extended {
    init(both value: Int) {
        self.init(a: value, b: value)
    }
}

@SmartCopy
@MainActor
private struct Screen {
    let title: String
    let subtitle: String?
}

/// Shadows the name of the support type, which the generated code uses.
@SmartCopy
private struct Shadowing {
    struct OptionalChange {}
    let a: Int?
    let b: OptionalChange?
}

/// A public struct with public and internal fields.
@SmartCopy
public struct Exported: Equatable, Sendable {
    /// A public field.
    public let id: Int
    /// A public optional field.
    public let note: String?
    let secret: Int
}

@Suite struct StructShapeTests {
    @Test func `a generic struct is copied`() {
        let page = Page(items: [1, 2], first: 1, last: 2, index: ["a": 1])
        let changed = page.copy(first: 5, last: nil)
        #expect(changed.items == [1, 2])
        #expect(changed.first == 5)
        #expect(changed.last == nil)
        #expect(changed.copy(last: 7).last == 7)
        #expect(changed.index == ["a": 1])
    }

    @Test func `nested structs are copied, in extensions also`() {
        let robot = Fleet.Robot(id: 1, arm: Fleet.Robot.Arm(reach: 2, tool: .brush))
        let changed = robot.copy(arm: .set(robot.arm?.copy(tool: .set(.torch))))
        #expect(changed.id == 1)
        #expect(changed.arm == Fleet.Robot.Arm(reach: 2, tool: .torch))
    }

    @Test func `an own initializer with every field is called in the order of its parameters`() {
        let changed = Ordered(a: 1).copy(b: 4)
        #expect(changed.a == 1)
        #expect(changed.b == 4)
    }

    @Test func `an initializer in an extension leaves the memberwise one in place`() {
        #expect(Extended(both: 1).copy(b: 2).a == 1)
    }

    @Test @MainActor func `a struct on the main actor is copied there`() {
        #expect(Screen(title: "a", subtitle: "b").copy(subtitle: nil).title == "a")
    }

    @Test func `a type of the same name as the support type does not conflict`() {
        #expect(Shadowing(a: 1, b: nil).copy(a: nil, b: .set(.init())).b != nil)
    }

    @Test func `a public struct is copied with its internal fields kept`() {
        let value = Exported(id: 1, note: "n", secret: 5)
        #expect(value.copy(id: 2, note: nil) == Exported(id: 2, note: nil, secret: 5))
    }
}
