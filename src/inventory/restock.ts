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

/** An output of a mined transaction that holds sats of an output of the inventory. */
export interface Rest extends Pick<InventoryOutput, 'txid' | 'vout' | 'script' | 'height' | 'blockHash'> {
  /** Sats of the spent output before its own. */
  readonly place: number;
  readonly value: number;
}

/**
 * Replaces an output of the inventory with the rests that an order left of it: their sats are known. Rests without sats
 * of a type are still the operator's, but not listed. If the spent output is no longer listed, `satscribe inventory
 * scan` has removed it, and finds the rests.
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
    // the spent output is missing: a reorganisation moved the rests into another block
    ranges: spentRanges === null ? (rangesListed(rest) ?? []) : rangesFrom(spentRanges, place, value),
  }));
  await putInventoryOutputs(
    tx,
    left.filter(({ ranges }) => isStock(ranges)),
  );
}

const nameOf = ({ txid, vout }: Outpoint): string => outpointText(displayHash(txid), vout);
