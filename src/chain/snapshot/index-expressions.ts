/**
 * SQL expressions of indexes (indexer/apply/secondary-indexes.ts). Queries
 * (src/chain/inscriptions/inscription-filter.ts) must repeat them exactly, because the planner uses an index only for
 * the same expression.
 */

/**
 * The content types of most inscriptions. They are not in the index, because it would then be as large as the table.
 * Reading by key finds these inscriptions quickly.
 */
const commonTypes = ['text/plain;charset=utf-8', 'text/plain'];

/** SQL: whether a content type is not one of the common types. */
export const isRareType = `content_type <> ALL (ARRAY[${commonTypes.map((type) => `'${type}'::bytea`).join(', ')}])`;

export const isCommonType = (type: string): boolean => commonTypes.includes(type);

/** SQL: the content type up to and including its slash, for example `image/`. Empty if there is no type. */
export const typeClass = `substring(content_type FROM 1 FOR position('/'::bytea IN content_type))`;

const commonClass = 'text/';
export const isRareClass = `${typeClass} <> '${commonClass}'::bytea`;
export const isCommonClass = (name: string): boolean => name === commonClass;
