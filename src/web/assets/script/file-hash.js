/**
 * Computes the SHA-256 hash of a file in the browser, in hex. The result is null if the browser does not offer hashing.
 * Browsers do not offer it on http, except on localhost.
 *
 * @param {Blob} file
 * @returns {Promise<string | null>}
 */
export async function sha256Of(file) {
  // the declared type of `crypto` always has `subtle`, but `subtle` is missing on http
  const subtle = /** @type {SubtleCrypto | undefined} */ (globalThis.crypto?.subtle);
  if (subtle === undefined) return null;
  const digest = await subtle.digest('SHA-256', await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
