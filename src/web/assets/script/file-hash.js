/**
 * The sha256 of a file in hex, computed in the browser. Null where browsers do not offer it: on http, except localhost.
 *
 * @param {Blob} file
 * @returns {Promise<string | null>}
 */
export async function sha256Of(file) {
  // its type says always there, but it is absent on http
  const subtle = /** @type {SubtleCrypto | undefined} */ (globalThis.crypto?.subtle);
  if (subtle === undefined) return null;
  const digest = await subtle.digest('SHA-256', await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
