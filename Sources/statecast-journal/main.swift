import StatecastCommands

await JournalCommand.execute()
