import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { parseTxid } from '#kernel/primitives/hash.ts';
import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';

const pattern = /^([0-9a-f]{64}):(\d{1,10})$/iu;
/** Outputs are counted in 32 bits. */
const voutMax = 0xffff_ffff;

/** The output of a text `<txid>:<vout>`; null for anything else. */
export function parseOutpoint(text: string): Outpoint | null {
  const [, hash = '', digits = ''] = pattern.exec(text) ?? [];
  const txid = parseTxid(hash);
  const vout = Number(digits);
  return txid === null || vout > voutMax ? null : { txid, vout };
}

/** An output that a request names as `<txid>:<vout>`. Null: it is absent, or `values` has its fault. Total. */
export function readOutpoint(values: RequestValues, name: string, given: unknown): Outpoint | null {
  if (!isGiven(given)) return null;
  const outpoint = typeof given === 'string' ? parseOutpoint(given) : null;
  return outpoint ?? values.fault(name, 'is not an output: <txid>:<vout>');
}
