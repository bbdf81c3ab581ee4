import StateCore
import Testing

@Suite struct `An action` {
    private struct DoorOpened: Action {}

    private struct Renamed: Action {
        static let name = "door-closed"
        static let example: Self? = Self()
    }

    @Test func `is named after its type`() {
        #expect(DoorOpened.name == "DoorOpened")
        let type: any Action.Type = DoorOpened.self
        #expect(type.name == "DoorOpened")
    }

    @Test func `may spell its name out`() {
        let type: any Action.Type = Renamed.self
        #expect(type.name == "door-closed")
    }

    @Test func `has an example only if it gives one`() {
        #expect(DoorOpened.example == nil)
        #expect(Renamed.example != nil)
        let type: any Action.Type = Renamed.self
        #expect(type.example is Renamed)
    }
}
