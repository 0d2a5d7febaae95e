// Calls one method of a class of the public client in a separate process, with https_proxy set to our service:
//   ordinalsbot-client.ts CLASS METHOD JSON
// Prints {"value": …} or {"error": {"status": …, "message": …}}.
import { Ordinalsbot } from 'ordinalsbot';
import type { ClientClass } from './call-client.ts';

const print = (answer: object): boolean => process.stdout.write(JSON.stringify(answer));
// the client prints its settings to the console
Object.assign(console, { log: () => undefined });
const [name = '', method = '', json = '[]'] = process.argv.slice(2);
const key = process.env['CLIENT_KEY'] ?? '';
const client = new Ordinalsbot(key, 'testnet', key === '' ? undefined : key)[
  name as ClientClass
]() as unknown as Readonly<Record<string, (...parameters: unknown[]) => Promise<unknown>>>;
try {
  const value = await client[method]?.(...(JSON.parse(json) as unknown[]));
  // this method returns the complete response object of its HTTP library, which is not JSON
  print({ value: method === 'createCollection' ? (value as { readonly data: unknown }).data : value });
} catch (error) {
  const { status = null, message } = error as { readonly status?: number; readonly message: string };
  print({ error: { status, message } });
}
