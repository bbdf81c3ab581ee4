import StatecastCommands

await AgentCommand.execute()
