import StatecastCommands

await GatewayCommand.execute()
