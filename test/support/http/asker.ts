import type { Asker } from '#kernel/contracts/asker.ts';
import { noKey } from '#kernel/contracts/asking-key.ts';

/** The sender of a request in a test without HTTP. `end` tells it that the response is sent. */
export function testAsker(
  client = 'somebody',
  signal: AbortSignal = new AbortController().signal,
): Asker & { readonly end: () => void } {
  const frees: (() => void)[] = [];
  const add = (free: () => void): void => {
    frees.push(free);
  };
  return {
    client,
    key: noKey,
    signal,
    whenMade: add,
    whenOut: add,
    end: () => {
      for (const free of frees.splice(0)) free();
    },
  };
}
