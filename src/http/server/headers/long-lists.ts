import type { IncomingMessage } from 'node:http';
import { limits } from '#http/server/limits.ts';

/** Headers that are lists, which several readers split at each comma. Each may be ignored (RFC 9110). */
const lists = ['accept', 'accept-encoding', 'if-none-match', 'range'] as const;

/** Makes lists that are far longer than any that clients send count as not sent, for every reader. */
export function dropLongLists({ headers }: IncomingMessage): void {
  for (const name of lists) {
    const { length } = headers[name] ?? '';
    if (length > limits.listHeaderChars) delete headers[name];
  }
}
