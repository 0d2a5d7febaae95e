/**
 * Expressions that indexes are built on (indexer/apply/secondary-indexes.ts) and that reads must repeat to the letter
 * (src/chain/inscriptions/inscription-filter.ts): the planner takes an index only for the same expression.
 */

/** What most inscriptions have: an index would be as large as the table, and a walk by key finds them at once. */
const commonTypes = ['text/plain;charset=utf-8', 'text/plain'];

/** Not one of the content types that most inscriptions have. */
export const isRareType = `content_type <> ALL (ARRAY[${commonTypes.map((type) => `'${type}'::bytea`).join(', ')}])`;

export const isCommonType = (type: string): boolean => commonTypes.includes(type);

/** The first part of a content type with its slash, `image/`; empty where it has none. */
export const typeClass = `substring(content_type FROM 1 FOR position('/'::bytea IN content_type))`;

const commonClass = 'text/';
export const isRareClass = `${typeClass} <> '${commonClass}'::bytea`;
export const isCommonClass = (name: string): boolean => name === commonClass;
