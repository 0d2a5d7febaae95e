/**
 * The SHA-256 of a file in hex, computed in the browser. Null if the browser does not offer hashing, which is so on
 * http, except on localhost.
 *
 * @param {Blob} file
 * @returns {Promise<string | null>}
 */
export async function sha256Of(file) {
  // the declared type of `crypto` says that `subtle` always exists, but it is missing on http
  const subtle = /** @type {SubtleCrypto | undefined} */ (globalThis.crypto?.subtle);
  if (subtle === undefined) return null;
  const digest = await subtle.digest('SHA-256', await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
