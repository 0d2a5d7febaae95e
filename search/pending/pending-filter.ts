import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import { formatInscriptionId, inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';
import { foldText } from '#kernel/text/fold.ts';
import { indexPair, indexTerm } from '#search/text/index-term.ts';
import { metadataTerms } from '#search/text/metadata-terms.ts';
import { propertiesCheck, readProperties } from '#search/text/searched-properties.ts';

/**
 * Whether a filter can match an unconfirmed inscription. Its future block decides its height, and whether it is
 * cursed.
 */
export function canPassPending({ from, to, cursed }: SearchFilter): boolean {
  return from === undefined && to === undefined && cursed === undefined;
}

/**
 * The part of a filter that columns of chain.pending_inscriptions `p` decide, as SQL. A parent holds where the
 * transaction that reveals the child moves it.
 *
 * @param place adds a value and returns its placeholder
 */
export function pendingConditions(
  { contentType, metaprotocol, parent }: SearchFilter,
  place: (value: unknown) => string,
): string[] {
  const conditions: string[] = [];
  if (contentType?.endsWith('/*') === true) {
    const name = Buffer.from(contentType.slice(0, -1));
    conditions.push(`substring(p.content_type FROM 1 FOR ${name.length}) = ${place(name)}::bytea`);
  } else if (contentType !== undefined) {
    conditions.push(`p.content_type = ${place(Buffer.from(contentType))}::bytea`);
  }
  if (metaprotocol !== undefined) {
    conditions.push(`p.metaprotocol = ${place(Buffer.from(metaprotocol))}::bytea`);
  }
  if (parent !== undefined) {
    const id = place(Buffer.from(inscriptionIdBytes(parent)));
    const txid = place(Buffer.from(parent.txid));
    conditions.push(
      `EXISTS (SELECT FROM generate_series(1, length(p.claimed_parents) - 35, 36) AS claim
                WHERE substring(p.claimed_parents FROM claim FOR 36) = ${id}::bytea)`,
      `EXISTS (SELECT FROM chain.mempool_transfers AS moved
                WHERE moved.position = p.position AND moved.inscription_txid = ${txid}::bytea
                  AND moved.inscription_index = ${place(parent.index)}::integer)`,
    );
  }
  return conditions;
}

/** The JSON columns that checks read. */
export interface PendingJson {
  readonly metadata: string | null;
  /** As ord shows them. */
  readonly properties: string | null;
}

/** The checks that SQL cannot make. Null: none. */
export function pendingCheck(filter: SearchFilter): ((row: PendingJson) => boolean) | null {
  const { metadata, title, traits, gallery } = filter;
  const checks: ((row: PendingJson) => boolean)[] = [];
  if (metadata !== undefined) checks.push((row) => hasMember(row.metadata, metadata));
  if (title !== undefined || traits !== undefined || gallery !== undefined) {
    const passes = propertiesCheck({ title, traits });
    const id = gallery === undefined ? null : formatInscriptionId(gallery.txid, gallery.index);
    checks.push((row) => {
      const properties = row.properties === null ? null : readProperties(row.properties);
      return properties !== null && passes(properties) && (id === null || properties.gallery.includes(id));
    });
  }
  return checks.length === 0 ? null : (row) => checks.every((check) => check(row));
}

function hasMember(json: string | null, { key, value }: { key?: string; value?: string }): boolean {
  const terms = json === null ? null : metadataTerms(json);
  if (terms === null) return false;
  if (key === undefined) return value !== undefined && terms.values.includes(indexTerm(foldText(value)));
  if (value === undefined) return terms.keys.includes(indexTerm(foldText(key)));
  return terms.pairs.includes(indexPair(foldText(key), foldText(value)));
}
