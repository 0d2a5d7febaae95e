import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { foldText } from '#kernel/text/fold.ts';
import { indexPair } from '#kernel/text/index-pair.ts';
import { galleryTerm, indexTerm } from '#search/text/index-term.ts';
import type { Clause } from '../server/clause.ts';
import { needleClauses } from './text-query.ts';

/**
 * The clauses of a filter, without its heights (those become keys). Null: nothing can match. `parentKey` is the key of
 * the parent, or null if the parent is not indexed.
 */
export function filterClauses(filter: SearchFilter, parentKey: InscriptionKey | null): Clause[] | null {
  if (!isWellFormed(filter) || (filter.parent !== undefined && parentKey === null)) return null;
  return [...plainClauses(filter, parentKey), ...propertyClauses(filter)];
}

function plainClauses(
  { contentType, cursed, metaprotocol }: SearchFilter,
  parentKey: InscriptionKey | null,
): Clause[] {
  return [
    ...(contentType === undefined ? [] : [typeClause(contentType)]),
    ...(cursed === undefined ? [] : [term('cursed', cursed)]),
    ...(metaprotocol === undefined ? [] : [term('metaprotocol', indexTerm(metaprotocol))]),
    ...(parentKey === null ? [] : [term('parents', parentKey)]),
  ];
}

function propertyClauses({ title, traits = [], gallery, metadata = {} }: SearchFilter): Clause[] {
  return [
    ...(title === undefined ? [] : (needleClauses('title', [foldText(title)]) ?? [])),
    ...traits.map(({ name, value }) => term('traits', indexPair(foldText(name), foldText(value)))),
    ...(gallery === undefined ? [] : [term('gallery', galleryTerm(gallery))]),
    ...memberClauses(metadata),
  ];
}

const term = (field: string, value: string | number | boolean): Clause => ({ term: { [field]: value } });

/** No text on chain holds half of a surrogate pair, and a server may read it as something else. */
function isWellFormed({
  contentType,
  metaprotocol,
  title,
  traits = [],
  metadata = {},
}: SearchFilter): boolean {
  const members = traits.flatMap(({ name, value }) => [name, value]);
  return [contentType, metaprotocol, title, metadata.key, metadata.value, ...members].every(
    (text) => text === undefined || text.isWellFormed(),
  );
}

const typeClause = (contentType: string): Clause =>
  contentType.endsWith('/*')
    ? term('class', indexTerm(contentType.slice(0, -1)))
    : term('type', indexTerm(contentType));

function memberClauses({ key, value }: NonNullable<SearchFilter['metadata']>): Clause[] {
  if (key !== undefined && value !== undefined) {
    return [term('metadataPairs', indexPair(foldText(key), foldText(value)))];
  }
  if (key !== undefined) return [term('metadataKeys', indexTerm(foldText(key)))];
  return value === undefined ? [] : [term('metadataValues', indexTerm(foldText(value)))];
}
