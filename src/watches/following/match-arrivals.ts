import type { ClientBase } from 'pg';
import type { ChainChange } from '#chain/arrivals/arrived-blocks.queries.ts';
import {
  type ArrivedInscription,
  readArrivedInscriptions,
  readPendingArrivals,
} from '#chain/arrivals/arrived-inscriptions.queries.ts';
import {
  type ArrivedReceipt,
  readArrivedReceipts,
  readPendingReceipts,
} from '#chain/arrivals/arrived-receipts.queries.ts';
import {
  type ArrivedRune,
  readArrivedRunes,
  readPendingEtchings,
} from '#chain/arrivals/arrived-runes.queries.ts';
import {
  type ArrivedSale,
  readArrivedSales,
  readPendingSales,
} from '#chain/arrivals/arrived-sales.queries.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { ChecksInTurns } from '#search/text/check-in-parts.ts';
import type { LiveWatch, LiveWatches } from '#watches/matching/live-watches.ts';
import { decideWords } from '#watches/matching/watch-index.ts';
import { type FoundThing, inscriptionThing, receiptFound, runeThing, saleThing } from './found-things.ts';

/** Reads the slugs of the collections of inscriptions, in the order of the ids. Null: no collection. */
export type ReadCollections = (
  client: ClientBase,
  ids: readonly InscriptionId[],
) => Promise<readonly (string | null)[]>;

export interface ArrivalsParts {
  /** A connection in a transaction, so that all reads see one moment. */
  readonly client: ClientBase;
  readonly watches: LiveWatches;
  readonly readCollections: ReadCollections;
  /** Called for each watch and thing that match. A promise is awaited before the next page is read. */
  readonly found: (watch: LiveWatch, thing: FoundThing) => void;
  /** Whether so many things were found that they must be stored before the end of the page. */
  readonly isFull: () => boolean;
  /** Called between pages, and in a page if `isFull`, so that the found things can be stored. */
  readonly onPage: () => Promise<void>;
}

/**
 * Matches all that a block brings.
 *
 * @param derived only things with rows in this derived table; null for all things
 */
export async function matchBlock(
  parts: ArrivalsParts,
  block: ChainChange,
  derived: string | null,
): Promise<void> {
  const { client, watches, onPage } = parts;
  const brings = (table: string): boolean => derived === null || derived === table;
  if (watches.hasSearches && brings('properties')) {
    for await (const page of readArrivedInscriptions(client, block, watches.wantsGalleries)) {
      await matchInscriptions(parts, page);
      await onPage();
    }
  }
  if (watches.hasSales && brings('sales'))
    await matchSales(parts, await readArrivedSales(client, block.height));
  if (brings('runes')) {
    if (watches.hasRunes) await matchRunes(parts, await readArrivedRunes(client, block.height));
    await matchReceipts(parts, await readArrivedReceipts(client, block, watches.scripts));
  }
  await onPage();
}

/** The highest index of an inscription in its transaction, which is an integer of Postgres. */
const indexMax = 2 ** 31 - 1;

/** Matches all pending transactions at positions above `after`. */
export async function matchPending(parts: ArrivalsParts, after: number): Promise<void> {
  const { client, watches, onPage } = parts;
  if (watches.hasSearches) {
    let last: { readonly position: number; readonly index: number } | undefined = {
      position: after,
      index: indexMax,
    };
    while (last !== undefined) {
      const page = await readPendingArrivals(client, last);
      await matchInscriptions(parts, page);
      await onPage();
      last = page.at(-1);
    }
  }
  if (watches.hasSales) await matchSales(parts, await readPendingSales(client, after));
  if (watches.hasRunes) await matchRunes(parts, await readPendingEtchings(client, after));
  await matchReceipts(parts, await readPendingReceipts(client, after, watches.scripts));
  await onPage();
}

async function matchInscriptions(
  { watches, found, isFull, onPage }: ArrivalsParts,
  inscriptions: readonly ArrivedInscription[],
): Promise<void> {
  const turns = new ChecksInTurns();
  for (const inscription of inscriptions) {
    const thing = inscriptionThing(inscription);
    const undecided = watches.matchInscription(inscription, (watch) => found(watch, thing));
    for (const words of undecided)
      for (const watch of await turns.resultOf(decideWords(words)))
        if (watches.has(watch.id)) found(watch, thing);
    if (isFull()) await onPage();
    await turns.pause();
  }
}

async function matchSales(parts: ArrivalsParts, sales: readonly ArrivedSale[]): Promise<void> {
  const { client, watches, readCollections, found, isFull, onPage } = parts;
  const ids = sales.map(({ revealTxid: txid, index }) => ({ txid, index }));
  const collections = watches.wantsCollections ? await readCollections(client, ids) : [];
  for (const [nth, sale] of sales.entries()) {
    const thing = saleThing(sale);
    const { price, maker, taker } = sale;
    watches.matchSale({ price, maker, taker, collection: collections[nth] ?? null }, (watch) =>
      found(watch, thing),
    );
    if (isFull()) await onPage();
  }
}

async function matchRunes(
  { watches, found, isFull, onPage }: ArrivalsParts,
  runes: readonly ArrivedRune[],
): Promise<void> {
  for (const rune of runes) {
    const thing = runeThing(rune);
    watches.matchRune(rune.event, asRune(rune.rune), (watch) => found(watch, thing));
    if (isFull()) await onPage();
  }
}

async function matchReceipts(
  { watches, found, isFull, onPage }: ArrivalsParts,
  receipts: readonly ArrivedReceipt[],
): Promise<void> {
  for (const receipt of receipts) {
    const thing = receiptFound(receipt);
    watches.matchReceipt(receipt.script, (watch) => found(watch, thing));
    if (isFull()) await onPage();
  }
}
