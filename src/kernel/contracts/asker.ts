/** Who asks a question, for what bounds and ends the work for it. */
export interface Asker {
  /** Whose share the work counts towards: an address (IPv4, or /64 of IPv6). */
  readonly client: string;
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
  return { client, signal, whenMade: atOnce, whenOut: atOnce };
}
