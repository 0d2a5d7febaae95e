import type pg from 'pg';
import { countPendingMints } from '#chain/pending/pending-mints.queries.ts';
import { followedRevision } from '#chain/runes/name-standing.queries.ts';
import { type RuneDetail, runeDetail } from '#chain/runes/rune.queries.ts';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { type MintFacts, mintFault } from './mint-fault.ts';
import { readOpenMints } from './ordered-mints.store.ts';

/** Terms of an order whose mints the rune still has. */
export interface MintedTerms {
  readonly kind: 'terms';
  readonly terms: OrderTerms;
}

/**
 * The terms of an order with its minted rune, which is found in the index by name. Returns a fault if blocks, the
 * mempool and other orders do not leave the wanted mints now. Terms without mints are returned unchanged. Throws
 * `runes_not_indexed`, `derived_table_behind`, `not_found` if runes are never known, `index_missing`, and the reason of
 * the signal.
 *
 * @param pool connections to the index
 */
export async function withMintedRune(
  pool: pg.Pool,
  terms: OrderTerms,
  signal: AbortSignal,
): Promise<MintedTerms | Faulty> {
  const { mint } = terms;
  if (mint === null) return { kind: 'terms', terms };
  return withSnapshot(
    pool,
    async ({ client, tip }): Promise<MintedTerms | Faulty> => {
      await requireRunes(client);
      const rune = await runeDetail(client, { kind: 'rune', rune: mint.rune });
      if (rune === null)
        return faultOf(
          `No block has etched the rune ${formatSpacedRune(mint)}. GET /runes lists the etched runes.`,
        );
      const facts = await mintFacts(client, rune, 'new');
      const fault = mintFault(facts, mint.count, firstOfUnpaid(tip?.height ?? null));
      if (fault !== null) return faultOf(fault);
      const id = { block: smallU128(rune.height), tx: rune.txIndex };
      // the name is shown with the spacers of its etching
      return { kind: 'terms', terms: { ...terms, mint: { ...mint, spacers: rune.spacers, id } } };
    },
    signal,
  );
}

const faultOf = (message: string): Faulty => ({
  kind: 'faulty',
  faults: [{ message: `rune: ${message}`, parameter: 'rune' }],
});

/**
 * The first block that could have the mints of an unpaid order. This is the block after the block with its payment.
 *
 * @param tip tip of the index, or null if no block is indexed
 */
const firstOfUnpaid = (tip: number | null): number => (tip ?? -1) + 2;

/**
 * Reads how many mints of a rune wait for a block. Runes must be known.
 *
 * @param asking `new`: mints that other orders hold are not available; `holding`: the first order that asks gets the
 * held mints
 */
export async function mintFacts(
  client: pg.ClientBase,
  rune: RuneDetail,
  asking: 'new' | 'holding',
): Promise<MintFacts> {
  const { released, held } = await readOpenMints(client, rune.rune);
  const isFollowed = (await followedRevision(client)) !== null;
  const pending = isFollowed ? await countPendingMints(client, rune.key, released) : 0;
  return { rune, pending, promised: released.length + (asking === 'new' ? held : 0) };
}
