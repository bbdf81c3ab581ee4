/// An action with one field.
package struct StepChangeRequested: Codable, Equatable, Sendable {
    let step: Int

    package init(step: Int) {
        self.step = step
    }
}

/// Actions as the cases of an enum.
package enum FleetAction: Codable, Equatable, Sendable {
    case allStopped
    case loadChanged(load: Int)
    case vehicleRenamed(name: String)
}
