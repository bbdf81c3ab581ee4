import StatecastCommands

await KeysCommand.execute()
