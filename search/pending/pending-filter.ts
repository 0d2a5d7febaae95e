import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import { type InscriptionId, inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';
import { foldText } from '#kernel/text/fold.ts';
import { indexPair } from '#kernel/text/index-pair.ts';
import { indexTerm } from '#search/text/index-term.ts';
import { metadataTerms } from '#search/text/metadata-terms.ts';
import { asksOnlyText, propertyConditions } from '#search/text/searched-properties.ts';

/**
 * Whether a filter can match an unconfirmed inscription. Only the future block decides the inscription's height, and
 * whether it is cursed.
 */
export function canPassPending(filter: SearchFilter): boolean {
  const { from, to, cursed } = filter;
  return from === undefined && to === undefined && cursed === undefined && asksOnlyText(filter);
}

/**
 * SQL conditions for the part of a filter that columns of chain.pending_inscriptions `p` can decide. A parent is valid
 * if the transaction that reveals the child moves the parent.
 *
 * @param place adds a value and returns its placeholder
 */
export function pendingConditions(filter: SearchFilter, place: (value: unknown) => string): string[] {
  const { contentType, metaprotocol, parent, gallery } = filter;
  const conditions = propertyConditions(filter, place).map(
    ({ column, value }) => `position(${value}::bytea IN p.${column}) > 0`,
  );
  // the checks of `pendingCheck` then read the ids themselves
  if (gallery !== undefined)
    conditions.push(`position(${place(Buffer.from(inscriptionIdBytes(gallery)))}::bytea IN p.gallery) > 0`);
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

/** The columns that checks read. */
export interface PendingColumns {
  /** Metadata as JSON. */
  readonly metadata: string | null;
  /** Ids of 36 bytes each. Null: no gallery, or the filter does not need it. */
  readonly gallery: Buffer | null;
}

/** The checks that SQL cannot make. Null: no checks. */
export function pendingCheck({ metadata, gallery }: SearchFilter): ((row: PendingColumns) => boolean) | null {
  const checks: ((row: PendingColumns) => boolean)[] = [];
  if (metadata !== undefined) checks.push((row) => hasMember(row.metadata, metadata));
  if (gallery !== undefined) checks.push((row) => row.gallery !== null && hasItem(row.gallery, gallery));
  return checks.length === 0 ? null : (row) => checks.every((check) => check(row));
}

function hasItem(ids: Buffer, item: InscriptionId): boolean {
  const wanted = inscriptionIdBytes(item);
  // bytes of two neighbouring ids may equal a third id
  for (let at = ids.indexOf(wanted); at >= 0; at = ids.indexOf(wanted, at + 1)) {
    if (at % wanted.length === 0) return true;
  }
  return false;
}

function hasMember(json: string | null, { key, value }: { key?: string; value?: string }): boolean {
  const terms = json === null ? null : metadataTerms(json);
  if (terms === null) return false;
  if (key === undefined) return value !== undefined && terms.values.includes(indexTerm(foldText(value)));
  if (value === undefined) return terms.keys.includes(indexTerm(foldText(key)));
  return terms.pairs.includes(indexPair(foldText(key), foldText(value)));
}
