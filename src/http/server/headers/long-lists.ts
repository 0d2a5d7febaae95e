import type { IncomingMessage } from 'node:http';
import { limits } from '#http/server/limits.ts';

/**
 * Headers with lists, which several functions split at each comma. A server may ignore each of these headers (RFC
 * 9110).
 */
const lists = ['accept', 'accept-encoding', 'if-none-match', 'range'] as const;

/** Removes list headers that are far longer than those of any client, so that no function splits them. */
export function dropLongLists({ headers }: IncomingMessage): void {
  for (const name of lists) {
    const { length } = headers[name] ?? '';
    if (length > limits.listHeaderChars) delete headers[name];
  }
}
