/**
 * Number of items in a row of chain.gallery_pages. ord's gallery pages have the same number, so each page is one row.
 */
export const itemsPerPage = 100;

/** Bytes of an item in such a row: the id of an inscription (txid, then index in little endian). */
export const itemBytes = 36;
