import { type AskingKey, noKey } from './asking-key.ts';

/** Who asks a question, for what bounds and ends the work for it. */
export interface Asker {
  /** Whose share the work counts towards: an address (IPv4, or /64 of IPv6). */
  readonly client: string;
  readonly key: AskingKey;
  /** Aborted when no one waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Calls `free` once the answer is made, and its bytes are counted, or it is given up; at once if it is already. */
  readonly whenMade: (free: () => void) => void;
  /** Calls `free` once the answer is out or given up; at once if it is already. */
  readonly whenOut: (free: () => void) => void;
}

/** Work of the program's own, which answers no request: nothing is held for its answer. */
export function ownAsker(client: string, signal: AbortSignal = new AbortController().signal): Asker {
  const atOnce = (free: () => void): void => free();
  return { client, key: noKey, signal, whenMade: atOnce, whenOut: atOnce };
}

/** The same asker, for a part of the work that ends sooner. */
export function askerWith({ client, key, whenMade, whenOut }: Asker, signal: AbortSignal): Asker {
  return { client, key, signal, whenMade, whenOut };
}

/**
 * The owner of what a request makes, which no other client reaches: its valid key, or without one its address. Clients
 * of a trusted proxy that names none share the address of the proxy.
 */
export const ownerOf = ({ client, key }: Pick<Asker, 'client' | 'key'>): string =>
  key.kind === 'none' ? `address ${client}` : `key ${key.id}`;
