import { type AskingKey, noKey } from './asking-key.ts';

/** The sender of a request, and the limits of the work for this request. */
export interface Asker {
  /** Client whose share the work uses. It is an IP address (IPv4, or /64 of IPv6). */
  readonly client: string;
  readonly key: AskingKey;
  /** Aborted when no one waits for the answer. */
  readonly signal: AbortSignal;
  /**
   * Calls `free` when the answer is made and its bytes are counted, or when it was given up. Calls it immediately if
   * that has already happened.
   */
  readonly whenMade: (free: () => void) => void;
  /** Calls `free` when the answer is sent or was given up. Calls it immediately if that has already happened. */
  readonly whenOut: (free: () => void) => void;
}

/** An asker for the program's own work, which answers no request. So no memory is held for an answer. */
export function ownAsker(client: string, signal: AbortSignal = new AbortController().signal): Asker {
  const atOnce = (free: () => void): void => free();
  return { client, key: noKey, signal, whenMade: atOnce, whenOut: atOnce };
}

/** The same asker with another signal, for a part of the work that ends sooner. */
export function askerWith({ client, key, whenMade, whenOut }: Asker, signal: AbortSignal): Asker {
  return { client, key, signal, whenMade, whenOut };
}

/**
 * The owner of results that no other client can reach. It is the request's valid key, or the client's IP address if
 * there is no valid key. If a trusted proxy names no client, all its clients share the IP address of the proxy.
 */
export const ownerOf = ({ client, key }: Pick<Asker, 'client' | 'key'>): string =>
  key.kind === 'none' ? `address ${client}` : `key ${key.id}`;
