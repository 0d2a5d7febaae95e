import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { machineEnvironment } from '#test/support/run-cli.ts';

const execute = promisify(execFile);
const clientFile = new URL('./ordinalsbot-client.ts', import.meta.url).pathname;

/** The classes of the public client for which our service has endpoints. */
export type ClientClass = 'Inscription' | 'Satscanner' | 'Satextractor' | 'Mempool' | 'TokenPay';

export interface ClientAnswer<Value> {
  readonly value?: Value;
  readonly error?: { readonly status: number | null; readonly message: string };
}

/** Calls a method of the unmodified public client with our service as its server. Returns the method's result. */
export async function callClient<Value>(
  origin: string,
  name: ClientClass,
  method: string,
  parameters: readonly unknown[],
  key = '',
): Promise<ClientAnswer<Value>> {
  const { stdout } = await execute(process.execPath, [clientFile, name, method, JSON.stringify(parameters)], {
    env: { ...machineEnvironment(), https_proxy: origin, CLIENT_KEY: key },
  });
  return JSON.parse(stdout) as ClientAnswer<Value>;
}
