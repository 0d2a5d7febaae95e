/**
 * Expressions of indexes (indexer/apply/secondary-indexes.ts) that reads (src/chain/inscriptions/inscription-filter.ts)
 * must repeat exactly: the planner uses an index only for the same expression.
 */

/**
 * The types of most inscriptions. An index on them would be as large as the table, and reading by key finds them
 * quickly.
 */
const commonTypes = ['text/plain;charset=utf-8', 'text/plain'];

/** Not one of the common content types. */
export const isRareType = `content_type <> ALL (ARRAY[${commonTypes.map((type) => `'${type}'::bytea`).join(', ')}])`;

export const isCommonType = (type: string): boolean => commonTypes.includes(type);

/** SQL: the content type up to its slash, `image/`. Empty without a type. */
export const typeClass = `substring(content_type FROM 1 FOR position('/'::bytea IN content_type))`;

const commonClass = 'text/';
export const isRareClass = `${typeClass} <> '${commonClass}'::bytea`;
export const isCommonClass = (name: string): boolean => name === commonClass;
