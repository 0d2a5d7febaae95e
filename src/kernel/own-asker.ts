import type { Asker } from './contracts/asker.ts';

/** Work of the program's own, which answers no request: nothing is held for its answer. */
export function ownAsker(client: string, signal: AbortSignal = new AbortController().signal): Asker {
  const atOnce = (free: () => void): void => free();
  return { client, signal, whenMade: atOnce, whenOut: atOnce };
}
