import type { OutgoingAnswer } from '#outgoing/outgoing-http.ts';
import type { MinerAnswer } from './miner.ts';

/** A sentence or two: customers see it, and the order stores it. */
const reasonCharsMax = 200;

/**
 * Reads an answer of the protocol (docs/miner.md): status 200 and an object with `accepted`. Anything else is silence.
 * Pure and total.
 *
 * @param id that an accepted package must repeat; null: an offer has no id
 */
export function readMinerAnswer({ status, bytes }: OutgoingAnswer, id: string | null): MinerAnswer {
  if (status !== 200) return { kind: 'silent', why: `it answered with the status ${status}` };
  const answer = objectOf(bytes);
  if (answer === null) return { kind: 'silent', why: 'its answer is no JSON object' };
  const { accepted, reason, id: repeated } = answer;
  if (accepted === false) return { kind: 'refused', reason: printable(reason) };
  if (accepted !== true) return { kind: 'silent', why: 'its answer does not say accepted' };
  // an answer from a cache, or to another package, does not count as acceptance
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

/** A foreign reason on one line, without control characters and characters that turn or hide text. */
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
