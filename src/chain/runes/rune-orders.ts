import type pg from 'pg';
import type { ClientBase } from 'pg';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { SharedMaking } from '#kernel/concurrency/shared-making.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { keysIn, newestMints, ofRune } from './rune.queries.ts';

/** Ways to sort a list of runes. `oldest` sorts by number. */
export const runeSorts = ['newest', 'oldest', 'name', 'mints'] as const;
export type RuneSort = (typeof runeSorts)[number];

/** Keys of all runes at one moment, for the sort orders that have no index. */
export interface RuneOrders {
  /**
   * Keys in a sort order. Names are sorted by length, then alphabetically.
   *
   * @param isOpen whether only runes are listed that the next block can mint
   */
  readonly list: (sort: RuneSort, isOpen: boolean) => readonly number[];
}

/**
 * Minimum time between two reads of the lists for new tips, in ms. Reading 200,000 runes takes a connection one second,
 * or several on a busy machine. During a catch-up each block is a new tip.
 */
const remadeEveryMs = 10_000;

/** The sorted lists of all runes, kept for a tip. For 200,000 runes they need some 10 MB. */
export class RuneLists {
  readonly #making: SharedMaking<Kept>;
  #kept: Kept | null = null;

  constructor(pool: pg.Pool) {
    // read to the end even if all clients leave, because the lists are kept for the next ones
    this.#making = new SharedMaking(async () => (this.#kept = await withSnapshot(pool, readKept, null)));
  }

  /** The lists at a tip, or lists that are a few seconds old. Throws `index_missing` during a first sync. */
  async at(tip: Tip | null, signal: AbortSignal): Promise<RuneOrders> {
    const kept = this.#kept;
    const isFresh =
      kept !== null && (kept.name === nameOf(tip) || performance.now() - kept.readAtMs < remadeEveryMs);
    if (isFresh) return kept.orders;
    return (await this.#making.get(signal)).orders;
  }
}

interface Kept {
  readonly name: string;
  readonly readAtMs: number;
  readonly orders: RuneOrders;
}

const nameOf = (tip: Tip | null): string =>
  tip === null ? '' : `${tip.undoEpoch} ${Buffer.from(tip.hash).toString('hex')}`;

async function readKept({ client, tip }: Snapshot): Promise<Kept> {
  const orders = await readOrders(client, tip);
  return { name: nameOf(tip), readAtMs: performance.now(), orders };
}

interface OrdersRow {
  by_name: Buffer | null;
  by_mints: Buffer | null;
  open: Buffer | null;
}

/**
 * Reads the lists. Keys are returned as bytes, four per key, because 200,000 rows would take the event loop a third of
 * a second.
 */
async function readOrders(client: ClientBase, tip: Tip | null): Promise<RuneOrders> {
  await requireIndexes(client, ['rune_mints_rune'], 'mints of runes');
  const { rows } = await client.query<OrdersRow>(
    // MATERIALIZED is needed, because otherwise Postgres would sort by an index of names, and read the mints of each
    // rune from all over their table. That took 5.5 s for 200,000 runes, in place of 1.9 s. greatest and least ignore
    // nulls, like the rules of mintable do (src/kernel/runes/terms.ts)
    `WITH each AS MATERIALIZED (
       SELECT r.key, r.rune, coalesce(m.mints, 0) AS mints,
         r.has_terms AND coalesce(m.mints, 0) < coalesce(r.cap, 0)
           AND coalesce(greatest(r.height_start, r.height + r.offset_start) <= $1, true)
           AND coalesce(least(r.height_end, r.height + r.offset_end) > $1, true) AS is_open
       FROM chain.runes r
       LEFT JOIN LATERAL (
         SELECT mints FROM chain.rune_mints WHERE ${ofRune('r.key')} ${newestMints}
       ) AS m ON true
     )
     SELECT (SELECT string_agg(int4send(key), ''::bytea ORDER BY rune) FROM each) AS by_name,
       (SELECT string_agg(int4send(key), ''::bytea ORDER BY mints DESC, key) FROM each) AS by_mints,
       (SELECT string_agg(int4send(key), ''::bytea) FROM each WHERE is_open) AS open`,
    [tip === null ? 0 : tip.height + 1],
  );
  const { by_name: byName = null, by_mints: byMints = null, open = null } = rows[0] ?? {};
  return ordersOf(keysIn(byName), keysIn(byMints), new Set(keysIn(open)));
}

function ordersOf(name: readonly number[], mints: readonly number[], open: ReadonlySet<number>): RuneOrders {
  const oldest = name.toSorted((a, b) => a - b);
  const all: Readonly<Record<RuneSort, readonly number[]>> = {
    newest: oldest.toReversed(),
    oldest,
    name,
    mints,
  };
  const isOpen = (key: number): boolean => open.has(key);
  const opened: Readonly<Record<RuneSort, readonly number[]>> = {
    newest: all.newest.filter(isOpen),
    oldest: oldest.filter(isOpen),
    name: name.filter(isOpen),
    mints: mints.filter(isOpen),
  };
  return { list: (sort, onlyOpen) => (onlyOpen ? opened : all)[sort] };
}
