import type { IncomingMessage } from 'node:http';
import { limits } from '#http/server/limits.ts';

/**
 * Headers with lists. Several functions split these headers at each comma. A server may ignore each of these headers
 * (RFC 9110).
 */
const lists = ['accept', 'accept-encoding', 'if-none-match', 'range'] as const;

/** Removes list headers that are far longer than any client's list headers, so that no function splits them. */
export function dropLongLists({ headers }: IncomingMessage): void {
  for (const name of lists) {
    const { length } = headers[name] ?? '';
    if (length > limits.listHeaderChars) delete headers[name];
  }
}
