import StatecastCommands

await ReplicaCommand.execute()
