import StatecastCommands

await PrimaryCommand.execute()
