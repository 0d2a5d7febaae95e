import type { ClientBase, Pool } from 'pg';
import { derivedMoment, whyOtherRules } from '#chain/derived/derived-tables.queries.ts';
import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { FoundCollection } from '#market/collections/market-slug.store.ts';
import { type CollectionSale, readCollectionSales } from './collection-sales.store.ts';
import { markOfBlock, type SaleId } from './sale-id.ts';
import type { SalePlace, SoldInBlock } from './sale-places.ts';
import { type SaleRange, salesOfRange } from './sale-range.ts';

/**
 * Maximum number of rows of a part of an export. A part takes some milliseconds of the event loop, and half a megabyte.
 * Two parts are in memory at once.
 */
const partRows = 1_000;

/** The chain and the classification of an export. They are the same for all of its sales. */
export interface ExportMoment {
  readonly tip: Tip;
  /** `chain.state.derived_epoch`, which changes when the table of sales is rebuilt. */
  readonly epoch: number;
}

export interface SaleExport {
  readonly collection: FoundCollection;
  /** The collection's sales of each block, by ascending height. */
  readonly blocks: readonly SoldInBlock[];
  readonly range: SaleRange;
  /** The sale after which the export begins. If it is null, the export begins with the first sale. */
  readonly after: SalePlace | null;
  readonly moment: ExportMoment;
}

/**
 * The moment of an export that begins after a sale. Throws `cursor_stale` if the block of that sale has left the chain.
 * Throws `derived_table_behind` while sales are rebuilt by other rules, because the table then has rows of both rules.
 *
 * @param after the sale after which the export begins, or null to begin with the first sale
 */
export async function beginExport(client: ClientBase, tip: Tip, after: SaleId | null): Promise<ExportMoment> {
  const why = await whyOtherRules(client, 'sales', storedSaleKind.version);
  if (why !== null) throw new AppError('derived_table_behind', why, { table: 'sales' });
  const { epoch, hash } = await derivedMoment(client, after?.place.height ?? tip.height);
  if (after !== null && (hash === null || markOfBlock(hash) !== after.blockMark)) {
    throw new AppError(
      'cursor_stale',
      `block ${after.place.height} of the last row is no longer in the chain; export again from a height below it`,
    );
  }
  return { tip, epoch };
}

/**
 * The sales of a collection in a range, in chain order. The next part is read while the caller uses the current part,
 * and no connection is held between parts. Throws `cursor_stale` if the chain is reorganised or sales are reclassified
 * meanwhile, because the parts already sent may be of a chain that no longer exists.
 */
export async function* exportSales(
  pool: Pool,
  reads: FairGate,
  asker: Asker,
  { collection, blocks, range, after, moment }: SaleExport,
): AsyncGenerator<CollectionSale[]> {
  const read = (places: SalePlace[]): Promise<CollectionSale[]> => {
    const part = reads.run(asker, () =>
      withSnapshot(
        pool,
        async ({ client }) => {
          await requireSame(client, moment);
          return readCollectionSales(client, collection, places);
        },
        asker.signal,
      ),
    );
    // if the client disconnects, no one awaits the part that is being read, so its error must be handled here
    part.catch(() => undefined);
    return part;
  };
  let next: Promise<CollectionSale[]> | null = null;
  for (const places of salesOfRange(blocks, range, after, partRows)) {
    const reading: Promise<CollectionSale[]> | null = next;
    next = read(places);
    if (reading !== null) yield await reading;
  }
  if (next !== null) yield await next;
}

async function requireSame(client: ClientBase, { tip, epoch }: ExportMoment): Promise<void> {
  const now = await derivedMoment(client, tip.height);
  if (now.epoch === epoch && now.hash?.equals(tip.hash) === true) return;
  throw new AppError('cursor_stale', 'the chain was reorganised during the export');
}
