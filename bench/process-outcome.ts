import { fork } from 'node:child_process';

/**
 * Runs a module in a separate process, with a task as its only argument. Returns the message that the process sends.
 *
 * @param what names the work in the error message
 */
export async function processOutcome<Outcome>(file: string, task: unknown, what: string): Promise<Outcome> {
  const child = fork(file, [JSON.stringify(task)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const messages: Outcome[] = [];
  child.on('message', (message) => messages.push(message as Outcome));
  const code = await new Promise((resolve) => {
    child.on('close', resolve);
  });
  const [outcome] = messages;
  if (outcome === undefined || code !== 0) throw new Error(`${what} ended with code ${String(code)}`);
  return outcome;
}
