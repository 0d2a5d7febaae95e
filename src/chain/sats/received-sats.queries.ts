import type { ClientBase } from 'pg';
import { isLeftOut } from '#chain/derived/derived-tables.queries.ts';
import { knowsSatRanges } from '#chain/derived/known-ranges.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { type SatRange, satsIn } from '#kernel/sats/sat-range.ts';
import { satRangesOf } from './sat-ranges.queries.ts';

/** The sats of an output. `unproven` if this server has no index of sats. `null` if the index is still being built. */
export type ReceivedSats = readonly SatRange[] | 'unproven' | null;

/**
 * Sats of outputs of indexed blocks, in the order of the request. An output without ranges has been spent, so its sats
 * have moved. Throws `request_invalid` if the outputs have too many ranges.
 */
export async function receivedSats(
  client: ClientBase,
  outputs: readonly (Outpoint & { readonly value: bigint })[],
): Promise<ReceivedSats[]> {
  if (outputs.length === 0) return [];
  if (await isLeftOut(client, 'sats')) return outputs.map(() => 'unproven');
  if (!(await knowsSatRanges(client))) return outputs.map(() => null);
  const ranges = await satRangesOf(client, outputs);
  return outputs.map((output) => {
    const found = ranges.of(output);
    return found !== null && BigInt(satsIn(found)) !== output.value ? [] : found;
  });
}
