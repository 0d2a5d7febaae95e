/**
 * SQL: contents on disk that files of collections use, one row for each file. The columns are `sha256` and `is_over`,
 * which is true if the collection no longer needs the content. Approved contents exist only on disk, and no URL can
 * replace them.
 */
export const collectionContents = `SELECT f.sha256, c.state = 'refused' AS is_over
    FROM service.mint_files AS f JOIN service.mint_collections AS c ON c.id = f.collection
   WHERE f.sha256 IS NOT NULL`;

/**
 * SQL: keys (`s3_key`) of uploads that pending collections name by URL and that were not fetched yet. The origin of a
 * URL is ignored, because this service may have several origins, and a key names exactly one upload.
 */
export const keysOfPendingFiles = `SELECT found.s3_key
    FROM service.mint_collections AS c JOIN service.mint_files AS f ON f.collection = c.id
    CROSS JOIN LATERAL substring(f.url FROM '/files/([^/?#]+)') AS found(s3_key)
   WHERE c.state = 'pending' AND f.sha256 IS NULL AND found.s3_key IS NOT NULL`;
