import type { OutgoingAnswer } from '#outgoing/outgoing-http.ts';
import type { MinerAnswer } from './miner.ts';

/**
 * Maximum number of characters of a reason, enough for a sentence or two. Customers see the reason, and the order
 * stores it.
 */
const reasonCharsMax = 200;

/**
 * Reads a reply of the protocol (docs/miner.md): status 200 and an object with `accepted`. Any other reply is treated
 * as silence. Pure. Never throws.
 *
 * @param id the id that the reply to a package must repeat, or null for an offer, which has no id
 */
export function readMinerAnswer({ status, bytes }: OutgoingAnswer, id: string | null): MinerAnswer {
  if (status !== 200) return { kind: 'silent', why: `it answered with the status ${status}` };
  const answer = objectOf(bytes);
  if (answer === null) return { kind: 'silent', why: 'its answer is not a JSON object' };
  const { accepted, reason, id: repeated } = answer;
  if (accepted === false) return { kind: 'refused', reason: printable(reason) };
  if (accepted !== true) return { kind: 'silent', why: 'its answer has no field accepted' };
  // a reply from a cache, or to another package, is not treated as acceptance
  if (id !== null && repeated !== id)
    return { kind: 'silent', why: 'its answer does not repeat the id of the package' };
  return { kind: 'accepted' };
}

function objectOf(bytes: Uint8Array): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}

/** A foreign reason on one line, without control characters and without characters that reverse or hide text. */
function printable(reason: unknown): string {
  if (typeof reason !== 'string') return noReason;
  const line = reason
    .slice(0, reasonCharsMax)
    .toWellFormed()
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim();
  return line === '' ? noReason : line;
}

const noReason = 'no reason given';
