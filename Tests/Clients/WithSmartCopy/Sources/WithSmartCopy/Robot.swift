import StatecastCore
import StatecastSmartCopy

@SmartCopy
struct Robot: Codable, Equatable, Sendable {
    let id: Int
    let name: String
    let task: String?
}

struct TaskAssigned: Action { let task: String }
struct TaskFinished: Action {}

extension Robot {
    static let reducer = Reducer<Robot> { robot, action in
        switch action {
        case let action as TaskAssigned: robot = robot.copy(task: .set(action.task))
        case is TaskFinished: robot = robot.copy(task: nil)
        default: break
        }
    }
}
