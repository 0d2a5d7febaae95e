import type { IncomingMessage } from 'node:http';
import { limits } from '#http/server/limits.ts';

/** List headers that several readers split at each comma. Each may be ignored (RFC 9110). */
const lists = ['accept', 'accept-encoding', 'if-none-match', 'range'] as const;

/** Removes list headers that are far longer than any client's, for every reader. */
export function dropLongLists({ headers }: IncomingMessage): void {
  for (const name of lists) {
    const { length } = headers[name] ?? '';
    if (length > limits.listHeaderChars) delete headers[name];
  }
}
