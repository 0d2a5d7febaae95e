/**
 * SQL: contents on disk that files of collections name, a row each: `sha256`, and whether the collection needs it
 * no more (`is_over`). What is for sale was approved, and no URL has it again.
 */
export const collectionContents = `SELECT f.sha256, c.state = 'refused' AS is_over
    FROM service.mint_files AS f JOIN service.mint_collections AS c ON c.id = f.collection
   WHERE f.sha256 IS NOT NULL`;
