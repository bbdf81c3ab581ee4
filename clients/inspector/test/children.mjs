// Processes that this one starts, and that do not outlive it.
import { spawn } from 'node:child_process'

const running = new Set()
process.on('exit', () => { for (const child of running) child.kill('SIGKILL') })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

export function start(...command) {
  const child = spawn(...command)
  running.add(child)
  child.on('exit', () => running.delete(child))
  return child
}
