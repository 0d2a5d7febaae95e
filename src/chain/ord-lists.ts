import type { ClientBase, Pool } from 'pg';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { withSnapshot } from '#kernel/pg/snapshot.ts';
import type { KeyPage } from './relative.queries.ts';
import { pageSize } from './relative.queries.ts';
import { utf8OrNull } from './utf8.ts';

/** Keys that are looked at in one statement. */
const keysAtOnce = 1_000;
/** Of most bodies the beginning tells that they are none of those that ord hides. */
const headBytes = 256;

/** Types that ord shows on its lists: those of its table (media.rs) that are neither code, text nor unknown to it. */
const shownTypes = [
  'application/pdf',
  'audio/flac',
  'audio/mpeg',
  'audio/ogg',
  'audio/ogg;codecs=opus',
  'audio/wav',
  'font/otf',
  'font/ttf',
  'font/woff',
  'font/woff2',
  'image/apng',
  'image/avif',
  'image/gif',
  'image/jpeg',
  'image/jxl',
  'image/png',
  'image/svg+xml',
  'image/webp',
  'model/gltf+json',
  'model/gltf-binary',
  'text/html',
  'text/html;charset=utf-8',
  'text/markdown',
  'text/markdown;charset=utf-8',
  'video/mp4',
  'video/webm',
].map((type) => Buffer.from(type));

const bvmNetwork = Buffer.from(
  '<body style="background:#F61;color:#fff;"><h1 style="height:100%">bvm.network</h1></body>',
);
const onlyReference = /^\p{White_Space}*\/content\/[0-9a-fA-F]{64}i\p{Nd}+\p{White_Space}*$/u;
const mayBeReference = /^\p{White_Space}*(?:\/|\ufffd|$)/u;

/** Whether a body alone makes ord hide its inscription (inscription.rs `hidden`). */
export function isHiddenBody(body: Uint8Array): boolean {
  if (bvmNetwork.equals(body.subarray(0, bvmNetwork.length))) return true;
  const text = utf8OrNull(body);
  return text !== null && onlyReference.test(text);
}

interface Known {
  /** First key that the lists do not know yet. */
  readonly nextKey: number;
  /** Newest child by collection; -1: the collection is hidden. */
  readonly newestChild: Map<number, number>;
  readonly galleries: readonly number[];
}

const nothingKnown = (): Known => ({ nextKey: 0, newestChild: new Map(), galleries: [] });

/**
 * The lists that ord makes of what is not hidden: collections (inscriptions with children, by their newest child) and
 * galleries. They are made of the index once, and then go on with it; 16 bytes of memory for a gallery, 100 for a collection.
 */
export class OrdLists {
  private tip: Tip | null = null;
  private known = nothingKnown();
  /** Collections in their order; null: something has changed. */
  private ordered: number[] | null = null;
  private refreshing: Promise<void> | null = null;

  /** Whether they are those of a tip; null: nothing is indexed. */
  areOf(tip: Tip | null): boolean {
    return tip === null ? this.tip === null : isSame(tip, this.tip);
  }

  /** The tip that pages speak of. */
  get ofTip(): Tip | null {
    return this.tip;
  }

  /**
   * Brings them to the tip of the database. Whoever asks while that is under way waits for it and takes no connection: making the
   * lists takes seconds, in which waiting snapshots would hold every connection that there is.
   */
  async bringUpToDate(pool: Pool): Promise<void> {
    this.refreshing ??= withSnapshot(pool, (snapshot) => this.refresh(snapshot)).finally(() => {
      this.refreshing = null;
    });
    await this.refreshing;
  }

  /** A page of collections. `page` counts from 0. */
  collections(page: number): KeyPage {
    this.ordered ??= this.inOrder();
    return slice(this.ordered, page);
  }

  /** A page of galleries, newest first. */
  galleryPage(page: number): KeyPage {
    const { galleries } = this.known;
    const end = galleries.length - page * pageSize;
    const keys = galleries.slice(Math.max(end - pageSize, 0), Math.max(end, 0)).reverse();
    return { keys, more: end > pageSize };
  }

  private async refresh({ client, tip }: Snapshot): Promise<void> {
    if (tip === null) {
      this.known = nothingKnown();
      this.ordered = null;
      this.tip = null;
      return;
    }
    if (isSame(tip, this.tip)) return;
    const known = this.tip?.undoEpoch === tip.undoEpoch ? this.known : nothingKnown();
    const changed = await collectionsSince(client, known.nextKey);
    const { newestChild } = known;
    const unknown = changed.map(({ parent }) => parent).filter((parent) => !newestChild.has(parent));
    // ascending: neighbours are on the same pages of the tables
    unknown.sort((a, b) => a - b);
    const shown = await shownAmong(client, unknown);
    const galleries = await galleriesSince(client, known.nextKey);
    const nextKey = await nextKeyAt(client, tip);
    // nothing is waited for from here on: whoever reads meanwhile has all of it or nothing
    for (const parent of unknown) newestChild.set(parent, shown.has(parent) ? 0 : -1);
    addChildren(newestChild, changed);
    this.known = { nextKey, newestChild, galleries: [...known.galleries, ...galleries] };
    this.ordered = null;
    this.tip = tip;
  }

  /** By newest child, newest first; those of one child by their own age. */
  private inOrder(): number[] {
    const shown = [...this.known.newestChild].filter(([, child]) => child !== -1);
    return shown.sort(([a, childA], [b, childB]) => childB - childA || a - b).map(([parent]) => parent);
  }
}

/** A collection and its newest child. */
interface Collection {
  readonly parent: number;
  readonly child: number;
}

async function nextKeyAt(client: ClientBase, { height }: Tip): Promise<number> {
  const { rows } = await client.query<{ next_key: number }>(
    'SELECT next_key FROM chain.blocks WHERE height = $1',
    [height],
  );
  return rows[0]?.next_key ?? 0;
}

/** Gives collections their newest children; what is hidden stays so. */
function addChildren(newestChild: Map<number, number>, collections: readonly Collection[]): void {
  for (const { parent, child } of collections)
    if (newestChild.get(parent) !== -1) newestChild.set(parent, child);
}

/** Collections that got children from a key on. */
async function collectionsSince(client: ClientBase, key: number): Promise<Collection[]> {
  const { rows } = await client.query<Collection>(
    `SELECT parent_key AS parent, max(child_key) AS child FROM chain.parents
     WHERE child_key >= $1 GROUP BY parent_key`,
    [key],
  );
  return rows;
}

/** Galleries from a key on that ord does not hide, ascending. */
async function galleriesSince(client: ClientBase, key: number): Promise<number[]> {
  const { rows } = await client.query<{ key: number }>(
    `SELECT key FROM chain.inscription_details
     WHERE properties_json LIKE '{"gallery":[{%' AND key >= $1 ORDER BY key`,
    [key],
  );
  const keys = rows.map((row) => row.key);
  const shown = await shownAmong(client, keys);
  return keys.filter((found) => shown.has(found));
}

function isSame(a: Tip, b: Tip | null): boolean {
  return b !== null && a.undoEpoch === b.undoEpoch && Buffer.compare(a.hash, b.hash) === 0;
}

function slice(keys: readonly number[], page: number): KeyPage {
  const from = page * pageSize;
  return { keys: keys.slice(from, from + pageSize), more: keys.length > from + pageSize };
}

/** Those of the inscriptions that ord does not hide: of a shown type, with a body of their own, without a metaprotocol. */
async function shownAmong(client: ClientBase, keys: readonly number[]): Promise<Set<number>> {
  const shown = new Set<number>();
  for (let from = 0; from < keys.length; from += keysAtOnce) {
    const { rows } = await client.query<{ key: number; content_id: number; head: Buffer; size: number }>(
      `SELECT i.key, i.content_id, substring(c.body FROM 1 FOR $3) AS head, length(c.body) AS size
       FROM unnest($1::integer[]) AS asked(key)
       JOIN chain.inscriptions i ON i.key = asked.key
       JOIN chain.contents c ON c.content_id = i.content_id
       LEFT JOIN chain.inscription_details d ON d.key = i.key
       WHERE i.content_type = ANY($2::bytea[]) AND d.metaprotocol IS NULL`,
      [keys.slice(from, from + keysAtOnce), shownTypes, headBytes],
    );
    for (const { key, content_id: contentId, head, size } of rows) {
      const isWhole = size <= headBytes || !mayBeReference.test(new TextDecoder().decode(head));
      const body = isWhole ? head : await wholeBody(client, contentId);
      if (!isHiddenBody(body)) shown.add(key);
    }
  }
  return shown;
}

async function wholeBody(client: ClientBase, contentId: number): Promise<Uint8Array> {
  const { rows } = await client.query<{ body: Buffer }>(
    'SELECT body FROM chain.contents WHERE content_id = $1',
    [contentId],
  );
  return rows[0]?.body ?? new Uint8Array(0);
}
