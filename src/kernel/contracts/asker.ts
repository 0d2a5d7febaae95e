import { type AskingKey, noKey } from './asking-key.ts';

/** The sender of a request, with the limits of the work for it. */
export interface Asker {
  /** Client whose share the work is taken from: an address (IPv4, or /64 of IPv6). */
  readonly client: string;
  readonly key: AskingKey;
  /** Aborted when no one waits for the answer. */
  readonly signal: AbortSignal;
  /**
   * Calls `free` once the answer is made and its bytes are counted, or once it was given up. Calls it immediately if
   * that has already happened.
   */
  readonly whenMade: (free: () => void) => void;
  /** Calls `free` once the answer is sent or was given up. Calls it immediately if that has already happened. */
  readonly whenOut: (free: () => void) => void;
}

/** An asker for the program's own work, which answers no request: no memory is held for its answer. */
export function ownAsker(client: string, signal: AbortSignal = new AbortController().signal): Asker {
  const atOnce = (free: () => void): void => free();
  return { client, key: noKey, signal, whenMade: atOnce, whenOut: atOnce };
}

/** The same asker, for a part of the work that ends sooner. */
export function askerWith({ client, key, whenMade, whenOut }: Asker, signal: AbortSignal): Asker {
  return { client, key, signal, whenMade, whenOut };
}

/**
 * The owner of results that no other client reaches: the request's valid key, or without one its address. Clients of a
 * trusted proxy that names no client share the address of the proxy.
 */
export const ownerOf = ({ client, key }: Pick<Asker, 'client' | 'key'>): string =>
  key.kind === 'none' ? `address ${client}` : `key ${key.id}`;
