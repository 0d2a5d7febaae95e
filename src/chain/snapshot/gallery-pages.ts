/** Items of a row of chain.gallery_pages: as many as ord's pages of galleries have, so that each page is one row. */
export const itemsPerPage = 100;

/** Bytes of an item there: the id of an inscription, its txid and its index (little endian). */
export const itemBytes = 36;
