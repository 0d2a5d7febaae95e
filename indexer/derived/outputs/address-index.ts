import type pg from 'pg';
import { type FactSet, noFacts } from '#indexer/facts/fact.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';

const neededFacts: FactSet = new Set(['outputs']);

/** What the index needs of each block. */
export const factsOfAddressIndex = (isWanted = false): FactSet => (isWanted ? neededFacts : noFacts);

/**
 * Makes sure that the database has the address index where it is wanted, and none where it is not: what was left out
 * of the first blocks cannot be made up for later. An empty database takes the setting. Throws `address_index_fixed`.
 */
export async function claimAddressIndex(tx: pg.ClientBase, isWanted: boolean): Promise<void> {
  const { rowCount } = await tx.query(
    'UPDATE chain.state SET address_index = $1 WHERE tip_height IS NULL OR coalesce(address_index, false) = $1',
    [isWanted],
  );
  if (rowCount === 1) return;
  const message = isWanted
    ? 'The database was filled without the index of addresses, which begins with the first block.'
    : 'The database has the index of addresses, which must not miss a block.';
  throw new AppError('address_index_fixed', message, { wanted: isWanted });
}

/** Throws `address_index_gap` where a block does not follow the tip: an output of a missing one would be missing too. */
export function refuseGap(tip: BlockRef | null, ref: BlockRef): void {
  const next = (tip?.height ?? -1) + 1;
  if (ref.height === next) return;
  throw new AppError(
    'address_index_gap',
    `The index of addresses takes every block from height 0 on: ${next} is missing before ${ref.height}.`,
    { expected: next, height: ref.height },
  );
}
