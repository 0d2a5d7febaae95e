import type { ClientBase } from 'pg';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
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

/**
 * The lists that ord makes of what is not hidden: collections (inscriptions with children, by their newest child) and
 * galleries. They are made of the index once, and then go on with it; 16 bytes of memory for a gallery, 100 for a collection.
 */
export class OrdLists {
  private tip: Tip | null = null;
  /** First key that the lists do not know yet. */
  private nextKey = 0;
  /** Newest child by collection; -1: the collection is hidden. */
  private newestChild = new Map<number, number>();
  private galleries: number[] = [];
  /** Collections in their order; null: something has changed. */
  private ordered: number[] | null = null;
  private working: Promise<unknown> = Promise.resolve();

  /** A page of collections and the tip that it speaks of. `page` counts from 0. */
  async collections(snapshot: Snapshot, page: number): Promise<KeyPage & { tip: Tip | null }> {
    return this.afterRefresh(snapshot, () => {
      this.ordered ??= this.inOrder();
      return slice(this.ordered, page);
    });
  }

  /** A page of galleries, newest first. */
  async galleryPage(snapshot: Snapshot, page: number): Promise<KeyPage & { tip: Tip | null }> {
    return this.afterRefresh(snapshot, () => {
      const end = this.galleries.length - page * pageSize;
      const keys = this.galleries.slice(Math.max(end - pageSize, 0), Math.max(end, 0)).reverse();
      return { keys, more: end > pageSize };
    });
  }

  /** One after the other: a snapshot that is older than the lists finds them as they are, with their own tip. */
  private async afterRefresh(
    snapshot: Snapshot,
    read: () => KeyPage,
  ): Promise<KeyPage & { tip: Tip | null }> {
    const work = this.working.then(async () => {
      await this.refresh(snapshot);
      return { ...read(), tip: this.tip };
    });
    this.working = work.catch(() => undefined);
    return work;
  }

  private async refresh({ client, tip }: Snapshot): Promise<void> {
    if (tip === null || isSame(tip, this.tip)) return;
    if (this.tip?.undoEpoch === tip.undoEpoch && tip.height < this.tip.height) return;
    if (this.tip?.undoEpoch !== tip.undoEpoch) this.clear();
    const { rows } = await client.query<{ next_key: number }>(
      'SELECT next_key FROM chain.blocks WHERE height = $1',
      [tip.height],
    );
    const end = rows[0]?.next_key ?? 0;
    try {
      await this.addCollections(client);
      await this.addGalleries(client);
    } catch (error) {
      // what was added is not known: all of it again
      this.clear();
      throw error;
    }
    this.nextKey = end;
    this.tip = tip;
  }

  private clear(): void {
    this.tip = null;
    this.nextKey = 0;
    this.newestChild = new Map();
    this.galleries = [];
    this.ordered = null;
  }

  private async addCollections(client: ClientBase): Promise<void> {
    const { rows } = await client.query<{ parent: number; child: number }>(
      `SELECT parent_key AS parent, max(child_key) AS child FROM chain.parents
       WHERE child_key >= $1 GROUP BY parent_key`,
      [this.nextKey],
    );
    if (rows.length > 0) this.ordered = null;
    const unknown = rows.map(({ parent }) => parent).filter((parent) => !this.newestChild.has(parent));
    const shown = await shownAmong(client, unknown);
    for (const parent of unknown) this.newestChild.set(parent, shown.has(parent) ? 0 : -1);
    for (const { parent, child } of rows)
      if (this.newestChild.get(parent) !== -1) this.newestChild.set(parent, child);
  }

  private async addGalleries(client: ClientBase): Promise<void> {
    const { rows } = await client.query<{ key: number }>(
      `SELECT key FROM chain.inscription_details
       WHERE properties_json LIKE '{"gallery":[{%' AND key >= $1 ORDER BY key`,
      [this.nextKey],
    );
    const keys = rows.map(({ key }) => key);
    const shown = await shownAmong(client, keys);
    this.galleries.push(...keys.filter((key) => shown.has(key)));
  }

  /** By newest child, newest first; those of one child by their own age. */
  private inOrder(): number[] {
    const shown = [...this.newestChild].filter(([, child]) => child !== -1);
    return shown.sort(([a, childA], [b, childB]) => childB - childA || a - b).map(([parent]) => parent);
  }
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
