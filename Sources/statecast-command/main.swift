import StatecastCommands

await StatecastCommand.executeAsInvoked()
