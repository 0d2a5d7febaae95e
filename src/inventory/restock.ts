import type pg from 'pg';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import { rangesFrom } from '#kernel/satributes/ranges-from.ts';
import { countWithin } from '#kernel/satributes/rule-ranges.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { outpointText } from '#utxos/utxo.ts';
import {
  type InventoryOutput,
  inventoryOutputsAt,
  putInventoryOutputs,
  removeInventoryOutput,
} from './inventory.store.ts';
import { TypeRules } from './type-rules.ts';

/** An output of a mined transaction that contains remaining sats of an output of the inventory. */
export interface Rest extends Pick<InventoryOutput, 'txid' | 'vout' | 'script' | 'height' | 'blockHash'> {
  /** Number of sats of the spent output that are before the sats of this output. */
  readonly place: number;
  readonly value: number;
}

/**
 * Replaces an output of the inventory by the outputs that an order left of it. The sats of the new outputs are known
 * from the spent output. Outputs without sats of any type still belong to the operator, but are not added. If the spent
 * output is not in the inventory, `satscribe inventory scan` has removed it, and the next scan finds the remaining
 * outputs.
 */
export async function restock(
  tx: pg.ClientBase,
  book: SatributeBook,
  spent: Outpoint,
  rests: readonly Rest[],
): Promise<void> {
  const { satributes } = new TypeRules(book);
  const isStock = (ranges: readonly SatRange[]): boolean =>
    satributes.some(({ rule }) => ranges.some((range) => countWithin(rule, range) > 0));
  const known = await inventoryOutputsAt(tx, [spent, ...rests]);
  const rangesListed = (outpoint: Outpoint): readonly SatRange[] | null =>
    known.find((output) => nameOf(output) === nameOf(outpoint))?.ranges ?? null;
  const spentRanges = rangesListed(spent);
  await removeInventoryOutput(tx, spent);
  const left = rests.map(({ place, value, ...rest }) => ({
    ...rest,
    value: asSats(value),
    // the spent output is missing if a reorganisation moved the remaining outputs into another block
    ranges: spentRanges === null ? (rangesListed(rest) ?? []) : rangesFrom(spentRanges, place, value),
  }));
  await putInventoryOutputs(
    tx,
    left.filter(({ ranges }) => isStock(ranges)),
  );
}

const nameOf = ({ txid, vout }: Outpoint): string => outpointText(displayHash(txid), vout);
