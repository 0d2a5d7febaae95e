/**
 * Maximum bytes of a content type in the columns. Filters and counts use at most 512 bytes; one more byte shows that
 * the type is longer.
 */
export const typeNameBytes = 513;

/** The columns of chain.search_columns in the order of `keyColumnsOf`. */
export const keyColumns = [
  'content_ids',
  'metadata_keys',
  'metadata_ids',
  'type_names',
  'type_codes',
  'cursed_keys',
  'unknown_keys',
] as const;

/** SQL: offsets of keys from `first`, two bytes each, with 32,768 subtracted. */
const offsetsWhere = (first: string, condition: string): string =>
  `coalesce(string_agg(int2send((key - ${first} - 32768)::smallint), '' ORDER BY key) FILTER (WHERE ${condition}), '')`;

/**
 * SQL: the columns of the inscriptions with keys from `first` to below `next`, in one row. Both are parameters; the
 * range has at most 65,536 keys.
 */
export function keyColumnsOf(first: string, next: string): string {
  return `WITH keys AS MATERIALIZED (
      SELECT key, content_id, metadata_id, number, substring(content_type FROM 1 FOR ${typeNameBytes}) AS type
        FROM chain.inscriptions WHERE key >= ${first}::integer AND key < ${next}::integer),
    types AS MATERIALIZED (
      SELECT type, row_number() OVER (ORDER BY type)::integer AS code
        FROM (SELECT DISTINCT type FROM keys WHERE type IS NOT NULL) AS named),
    width AS MATERIALIZED (SELECT CASE WHEN count(*) < 256 THEN 1 ELSE 4 END AS bytes FROM types)
    SELECT coalesce(string_agg(int4send(coalesce(content_id, -1)), '' ORDER BY key), '') AS content_ids,
           ${offsetsWhere(first, 'metadata_id IS NOT NULL')} AS metadata_keys,
           coalesce(string_agg(int4send(metadata_id), '' ORDER BY key) FILTER (WHERE metadata_id IS NOT NULL), '')
             AS metadata_ids,
           (SELECT coalesce(string_agg(int2send(octet_length(type)::smallint) || type, '' ORDER BY code), '') FROM types)
             AS type_names,
           coalesce(string_agg(substring(int4send(coalesce(code, 0)) FROM 5 - bytes), '' ORDER BY key), '')
             AS type_codes,
           ${offsetsWhere(first, 'number < 0')} AS cursed_keys,
           ${offsetsWhere(first, 'number IS NULL')} AS unknown_keys
      FROM keys LEFT JOIN types USING (type) CROSS JOIN width`;
}

/**
 * SQL: lengths of the stored bodies of contents from `first` to below `next`, four bytes each, in one row. Both are
 * parameters.
 */
export function contentLengthsOf(first: string, next: string): string {
  return `SELECT coalesce(string_agg(int4send(octet_length(body)), '' ORDER BY content_id), '') AS lengths
      FROM chain.contents WHERE content_id >= ${first}::integer AND content_id < ${next}::integer`;
}
