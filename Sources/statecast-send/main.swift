import StatecastCommands

await SendCommand.execute()
