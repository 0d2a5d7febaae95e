import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { parseOutpoint } from '#kernel/bitcoin/parse-outpoint.ts';
import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';

/**
 * Reads an output that a request names as `<txid>:<vout>`. Returns null if it is absent, or after adding a fault to
 * `values`. Total.
 */
export function readOutpoint(values: RequestValues, name: string, given: unknown): Outpoint | null {
  if (!isGiven(given)) return null;
  const outpoint = typeof given === 'string' ? parseOutpoint(given) : null;
  return outpoint ?? values.fault(name, 'is not an output; an output has the form <txid>:<vout>');
}
