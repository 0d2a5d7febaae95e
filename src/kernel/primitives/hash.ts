/** Hashes are 32 bytes in the order in which they are computed; block hashes and txids are shown reversed. */

const displayed = /^[0-9a-f]{64}$/iu;

/** Hex of a txid or block hash as everyone shows it (bytes reversed). */
export function displayHash(hash: Uint8Array): string {
  return Buffer.from(hash).reverse().toString('hex');
}

/** The bytes of a txid or block hash that is shown as 64 hex digits of either case; null for anything else. */
export function hashFromDisplay(text: string): Uint8Array | null {
  return displayed.test(text) ? Uint8Array.from(Buffer.from(text, 'hex').reverse()) : null;
}
