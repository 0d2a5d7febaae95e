/**
 * SQL: contents on disk that files of collections name, a row each: `sha256`, and `is_over`: whether the collection no
 * longer needs it. Approved contents for sale exist only on disk: no URL has them again.
 */
export const collectionContents = `SELECT f.sha256, c.state = 'refused' AS is_over
    FROM service.mint_files AS f JOIN service.mint_collections AS c ON c.id = f.collection
   WHERE f.sha256 IS NOT NULL`;

/**
 * SQL: keys of uploads that URLs of pending collections name, and whose files are not fetched yet: `s3_key`. The origin
 * is ignored, because this service may have several, and a key names one upload.
 */
export const keysOfPendingFiles = `SELECT found.s3_key
    FROM service.mint_collections AS c JOIN service.mint_files AS f ON f.collection = c.id
    CROSS JOIN LATERAL substring(f.url FROM '/files/([^/?#]+)') AS found(s3_key)
   WHERE c.state = 'pending' AND f.sha256 IS NULL AND found.s3_key IS NOT NULL`;
