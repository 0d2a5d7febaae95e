import type pg from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import {
  formatInscriptionId,
  type InscriptionId,
  parseInscriptionId,
} from '#kernel/primitives/inscription-id.ts';

/** Another inscription that a content refers to. */
export interface Reference {
  readonly id: InscriptionId;
  /** True if the inscription is not indexed here. The content that refers to it then shows less, or nothing. */
  readonly isMissing: boolean;
}

/** Maximum number of references shown for one content. A gallery may name thousands. */
const referencesMax = 100;

const pattern = /\/content\/([0-9a-f]{64}i\d{1,10})/giu;

/**
 * The inscriptions that a content loads by `/content/<id>`, by content id. Only the first bytes of the content are
 * searched, because most references are at the beginning. Encoded bodies are skipped.
 */
export async function referencesOf(
  db: pg.Pool | pg.ClientBase,
  contentIds: readonly number[],
  readBytes: number,
): Promise<Map<number, Reference[]>> {
  const { rows } = await db.query<{ content_id: number; head: Buffer }>(
    `SELECT content_id, substring(body FROM 1 FOR $2) AS head FROM chain.contents
     WHERE content_id = ANY($1) AND variant & 7 = 0`,
    [contentIds, readBytes],
  );
  const named = new Map(rows.map(({ content_id, head }) => [content_id, idsIn(head)]));
  const indexed = await indexedOf(db, [...new Set([...named.values()].flat())]);
  const reference = (text: string): Reference[] => {
    const id = parseInscriptionId(text);
    return id === null ? [] : [{ id, isMissing: !indexed.has(text) }];
  };
  return new Map([...named].map(([contentId, ids]) => [contentId, ids.flatMap(reference)]));
}

function idsIn(body: Buffer): string[] {
  const ids = new Set<string>();
  for (const [, id] of body.toString('latin1').matchAll(pattern)) {
    const parsed = parseInscriptionId(id ?? '');
    if (parsed !== null) ids.add(formatInscriptionId(parsed.txid, parsed.index));
    if (ids.size === referencesMax) break;
  }
  return [...ids];
}

async function indexedOf(db: pg.Pool | pg.ClientBase, ids: readonly string[]): Promise<Set<string>> {
  const parsed = ids.flatMap((text) => parseInscriptionId(text) ?? []);
  const { rows } = await db.query<{ txid: Txid; index: number }>(
    `SELECT i.txid, i.index FROM unnest($1::bytea[], $2::integer[]) AS asked(txid, index)
     JOIN chain.inscriptions i ON i.txid = asked.txid AND i.index = asked.index`,
    [parsed.map(({ txid }) => Buffer.from(txid)), parsed.map(({ index }) => index)],
  );
  return new Set(rows.map(({ txid, index }) => formatInscriptionId(txid, index)));
}
