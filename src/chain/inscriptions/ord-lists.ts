import type { ClientBase, Pool } from 'pg';
import { requireNotBehind } from '#chain/derived/derived-tables.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { shownAmong } from './hidden-inscriptions.ts';
import type { KeyPage } from './relative.queries.ts';
import { pageSize } from './relative.queries.ts';

/**
 * A block that the lists contain. While all of these fields are unchanged, every row up to this block is unchanged too.
 */
interface KnownBlock {
  readonly height: Height;
  /** The first key after the keys of the block. */
  readonly nextKey: number;
  /** The block's hash, and values that change if missing blocks are added below it. */
  readonly mark: string;
}

/** The content of the lists, up to a block. */
interface Known {
  /** The last known blocks, ascending. */
  readonly blocks: readonly KnownBlock[];
  /** The newest child of each collection. -1 if the collection is hidden. */
  readonly newestChild: Map<InscriptionKey, InscriptionKey | -1>;
  /** The collections that are shown, in the order of the list. */
  readonly ordered: readonly InscriptionKey[];
  /** Keys, ascending. */
  readonly galleries: readonly InscriptionKey[];
}

const nothingKnown = (): Known => ({ blocks: [], newestChild: new Map(), ordered: [], galleries: [] });

/** Maximum depth of reorganisations whose changes the lists can undo. A deeper reorganisation rebuilds the lists. */
const blocksKnown = 150;

/**
 * ord's lists of inscriptions that are not hidden. One list has the collections: inscriptions with children, newest
 * child first. The other list has the galleries. The lists are read once from the index and then updated, also after
 * reorganisations. They need 16 bytes of memory per gallery, and 100 per collection.
 */
export class OrdLists {
  #tip: Tip | null = null;
  #known = nothingKnown();
  #refreshing: Promise<void> | null = null;

  /** Whether the lists belong to this tip. `null` is the tip of an empty index. */
  areOf(tip: Tip | null): boolean {
    return tip === null ? this.#tip === null : isSame(tip, this.#tip);
  }

  /** The tip that the pages belong to. */
  get ofTip(): Tip | null {
    return this.#tip;
  }

  /**
   * Updates the lists to the tip of the database. Concurrent callers wait for the running update without using a
   * connection. A first update takes seconds, and snapshots that wait that long would use up all connections. If the
   * signal is aborted, the connection of the update is cut.
   */
  async bringUpToDate(pool: Pool, signal: AbortSignal | null): Promise<void> {
    this.#refreshing ??= withSnapshot(pool, (snapshot) => this.#refresh(snapshot), signal).finally(() => {
      this.#refreshing = null;
    });
    await this.#refreshing;
  }

  /** A page of collections. `page` counts from 0. */
  collections(page: number): KeyPage {
    return slice(this.#known.ordered, page);
  }

  /** A page of galleries, newest first. */
  galleryPage(page: number): KeyPage {
    const { galleries } = this.#known;
    const end = galleries.length - page * pageSize;
    const keys = galleries.slice(Math.max(end - pageSize, 0), Math.max(end, 0)).reverse();
    return { keys, more: end > pageSize };
  }

  async #refresh({ client, tip }: Snapshot): Promise<void> {
    if (tip !== null && isSame(tip, this.#tip)) return;
    // the pages change only once the update is complete
    const kept = tip === null ? nothingKnown() : await this.#kept(client, tip);
    this.#known = tip === null ? kept : await goneOn(client, kept, tip);
    this.#tip = tip;
  }

  /** The part of the known lists that is still valid. */
  async #kept(client: ClientBase, { undoEpoch }: Tip): Promise<Known> {
    const known = this.#known;
    if (this.#tip?.undoEpoch === undoEpoch) return known;
    const [first] = known.blocks;
    const there = first === undefined ? [] : await blocksFrom(client, first.height);
    const marks = new Set(there.map(({ mark }) => mark));
    const last = known.blocks.findLastIndex(({ mark }) => marks.has(mark));
    return last === -1 ? nothingKnown() : goneBack(client, known, known.blocks.slice(0, last + 1));
  }
}

/** Undoes the lists to the last of the given blocks. The cost depends on the number of undone blocks. */
async function goneBack(client: ClientBase, known: Known, blocks: readonly KnownBlock[]): Promise<Known> {
  const nextKey = nextKeyOf(blocks);
  const newestChild = new Map(known.newestChild);
  const changed: InscriptionKey[] = [];
  for (const [parent, child] of known.newestChild) {
    if (child < nextKey && parent < nextKey) continue;
    newestChild.delete(parent);
    if (parent < nextKey) changed.push(parent);
  }
  for (const { parent, child } of await collectionsBefore(client, changed, nextKey))
    newestChild.set(parent, child);
  const galleries = known.galleries.filter((key) => key < nextKey);
  return { blocks, newestChild, ordered: inOrder(newestChild), galleries };
}

/**
 * Extends the lists to the tip. The given lists are changed and must not be used afterwards. The cost depends on the
 * number of blocks after their last block.
 */
async function goneOn(client: ClientBase, known: Known, tip: Tip): Promise<Known> {
  const nextKey = nextKeyOf(known.blocks);
  const changed = await collectionsSince(client, nextKey);
  const unknown = changed.map(({ parent }) => parent).filter((parent) => !known.newestChild.has(parent));
  // sort ascending, because keys near each other are on the same pages of the tables
  unknown.sort((a, b) => a - b);
  const shown = await shownAmong(client, unknown);
  const galleries = await galleriesSince(client, nextKey);
  const blocks = await blocksFrom(client, asHeight(Math.max(tip.height - blocksKnown, 0)));
  const { newestChild } = known;
  for (const parent of unknown) if (!shown.has(parent)) newestChild.set(parent, -1);
  const newer = new Map(changed.map(({ parent, child }) => [parent, child]));
  for (const parent of newer.keys()) if (newestChild.get(parent) === -1) newer.delete(parent);
  for (const [parent, child] of newer) newestChild.set(parent, child);
  return {
    blocks,
    newestChild,
    ordered: [...inOrder(newer), ...known.ordered.filter((parent) => !newer.has(parent))],
    galleries: [...known.galleries, ...galleries],
  };
}

const nextKeyOf = (blocks: readonly KnownBlock[]): number => blocks.at(-1)?.nextKey ?? 0;

/**
 * Keys of collections, ordered by their newest child, newest first. Collections with the same newest child are ordered
 * by their own age. Hidden collections are left out.
 */
function inOrder(newestChild: ReadonlyMap<InscriptionKey, InscriptionKey | -1>): InscriptionKey[] {
  const shown = [...newestChild].filter(([, child]) => child !== -1);
  return shown.sort(([a, childA], [b, childB]) => childB - childA || a - b).map(([parent]) => parent);
}

/** The blocks from a height on, ascending. The result has at most `blocksKnown` + 1 blocks. */
async function blocksFrom(client: ClientBase, height: Height): Promise<KnownBlock[]> {
  const { rows } = await client.query<{ height: Height; next_key: number; mark: string }>(
    `SELECT height, next_key,
       concat_ws(' ', height, encode(hash, 'hex'), next_key, island_height, anchored, has_spent) AS mark
     FROM chain.blocks WHERE height BETWEEN $1 AND $1 + $2 ORDER BY height`,
    [height, blocksKnown],
  );
  return rows.map((row) => ({ height: row.height, nextKey: row.next_key, mark: row.mark }));
}

/** A collection and its newest child. */
interface Collection {
  readonly parent: InscriptionKey;
  readonly child: InscriptionKey;
}

/** Collections that got new children from a key on. */
async function collectionsSince(client: ClientBase, firstKey: number): Promise<Collection[]> {
  if (firstKey === 0) await requireNotBehind(client, 'parent_children');
  const { rows } = await client.query<Collection>(
    firstKey === 0
      ? 'SELECT parent_key AS parent, newest_child AS child FROM chain.parent_children WHERE newest_child >= $1'
      : `SELECT parent_key AS parent, max(child_key) AS child FROM chain.parents
         WHERE child_key >= $1 GROUP BY parent_key`,
    [firstKey],
  );
  return rows;
}

/** The given inscriptions that have children below a key. Each has its newest such child. */
async function collectionsBefore(
  client: ClientBase,
  parents: readonly InscriptionKey[],
  nextKey: number,
): Promise<Collection[]> {
  const { rows } = await client.query<Collection>(
    `SELECT asked.key AS parent, newest.key AS child
     FROM unnest($1::integer[]) AS asked(key)
     CROSS JOIN LATERAL (
       SELECT child_key AS key FROM chain.parents WHERE parent_key = asked.key AND child_key < $2
       ORDER BY child_key DESC LIMIT 1
     ) AS newest`,
    [parents, nextKey],
  );
  return rows;
}

/** Galleries from a key on that ord shows, ascending. */
async function galleriesSince(client: ClientBase, firstKey: number): Promise<InscriptionKey[]> {
  const { rows } = await client.query<{ key: InscriptionKey }>(
    // the second query finds galleries that an earlier version indexed, until the catch-up pass has written rows for
    // them
    `SELECT key FROM chain.properties WHERE items > 0 AND key >= $1
     UNION ALL
     SELECT key FROM chain.inscription_details
     WHERE properties_json IS NOT NULL AND starts_with(properties_json, '{"gallery":[{') AND key >= $1
     ORDER BY key`,
    [firstKey],
  );
  const keys = rows.map((row) => row.key);
  const shown = await shownAmong(client, keys);
  return keys.filter((found) => shown.has(found));
}

function isSame(a: Tip, b: Tip | null): boolean {
  return b !== null && a.undoEpoch === b.undoEpoch && Buffer.compare(a.hash, b.hash) === 0;
}

function slice(keys: readonly InscriptionKey[], page: number): KeyPage {
  const from = page * pageSize;
  return { keys: keys.slice(from, from + pageSize), more: keys.length > from + pageSize };
}
