import StatecastCore

let robots = Core(Robot(id: 7, name: "Ada", task: nil), reducer: Robot.reducer)
robots.dispatch(TaskAssigned(task: "paint"))
print(robots.state.task ?? "no task")
robots.dispatch(TaskFinished())
print(robots.state.task ?? "no task")
