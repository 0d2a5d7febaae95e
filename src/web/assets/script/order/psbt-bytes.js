// Reads PSBTs (BIP 174) in the browser: whether a wallet signed the given transaction, and how much the transaction
// pays. Pure.

const magic = [0x70, 0x73, 0x62, 0x74, 0xff];

/**
 * The bytes of a PSBT from hex, from base64, or from a file. The file contains hex, base64 or the PSBT itself. `null`
 * if the argument is not a PSBT.
 *
 * @param {string | Uint8Array} given
 * @returns {Uint8Array | null}
 */
export function psbtBytes(given) {
  const bytes = typeof given === 'string' ? bytesOf(given.replace(/\s+/gu, '')) : given;
  if (bytes === null) return null;
  if (magic.every((byte, index) => bytes[index] === byte)) return bytes;
  // the bytes may be a text file with hex or base64
  return typeof given === 'string' || bytes.some((byte) => byte > 0x7f)
    ? null
    : psbtBytes(String.fromCharCode(...bytes.slice(0, textMax)));
}

/** Maximum number of characters of a PSBT that the service finalizes, in hex. */
const textMax = 2_000_000;

/** @param {string} text */
function bytesOf(text) {
  if (/^(?:[0-9a-f]{2})+$/iu.test(text)) {
    const bytes = new Uint8Array(text.length / 2);
    for (let index = 0; index < bytes.length; index++)
      bytes[index] = Number.parseInt(text.slice(2 * index, 2 * index + 2), 16);
    return bytes;
  }
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/**
 * Bytes in hex.
 *
 * @param {Uint8Array} bytes
 */
export const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Reads bytes from the beginning. Returns null if too few bytes are left. */
class Reader {
  #at = 0;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
  }

  /** @param {number} count */
  take(count) {
    if (count > this.bytes.length - this.#at) return null;
    this.#at += count;
    return this.bytes.subarray(this.#at - count, this.#at);
  }

  /** Reads a little-endian number of up to eight bytes. Returns null if the number is not a safe integer. */
  number(/** @type {number} */ width) {
    const bytes = this.take(width);
    const value = bytes?.reduceRight((sum, byte) => sum * 256 + byte, 0) ?? null;
    return value !== null && Number.isSafeInteger(value) ? value : null;
  }

  /** Reads a length, encoded as in transactions (CompactSize). */
  length() {
    const first = this.number(1);
    if (first === null || first < 0xfd) return first;
    return this.number(first === 0xfd ? 2 : first === 0xfe ? 4 : 8);
  }

  get position() {
    return this.#at;
  }

  /** Skips the outputs of a transaction. Returns whether all of them are complete. */
  skipOutputs() {
    const count = this.length();
    if (count === null) return false;
    for (let index = 0; index < count; index++)
      if (this.take(8) === null || this.field() === null) return false;
    return true;
  }

  /** Reads a length, and then as many bytes as the length says. */
  field() {
    const length = this.length();
    return length === null ? null : this.take(length);
  }
}

/**
 * The unsigned transaction in a PSBT of version 0. `null` if there is no such transaction.
 *
 * @param {Uint8Array} psbt
 * @returns {Uint8Array | null}
 */
export function unsignedOf(psbt) {
  const reader = new Reader(psbt);
  reader.take(magic.length);
  for (;;) {
    const key = reader.field();
    if (key === null || key.length === 0) return null;
    const value = reader.field();
    if (value === null) return null;
    if (key.length === 1 && key[0] === 0) return value;
  }
}

/**
 * The sats of each output of a transaction without signatures. `null` if the bytes are not a transaction.
 *
 * @param {Uint8Array} transaction
 * @returns {readonly number[] | null}
 */
export function outputValues(transaction) {
  const reader = new Reader(transaction);
  reader.take(4);
  const inputs = reader.length();
  if (inputs === null) return null;
  for (let index = 0; index < inputs; index++) {
    // skip outpoint, script and sequence
    if (reader.take(36) === null || reader.field() === null || reader.take(4) === null) return null;
  }
  const outputs = reader.length();
  if (outputs === null) return null;
  const values = /** @type {number[]} */ ([]);
  for (let index = 0; index < outputs; index++) {
    const value = reader.number(8);
    if (value === null || reader.field() === null) return null;
    values.push(value);
  }
  return reader.take(4) === null ? null : values;
}

/**
 * Whether two PSBTs sign the same transaction.
 *
 * @param {Uint8Array} one
 * @param {Uint8Array} other
 */
export function signSame(one, other) {
  const [left, right] = [unsignedOf(one), unsignedOf(other)];
  return left !== null && right !== null && hexOf(left) === hexOf(right);
}

/**
 * A transaction without its signatures. `null` if the bytes are not a transaction.
 *
 * @param {Uint8Array} transaction
 * @returns {Uint8Array | null}
 */
export function withoutSignatures(transaction) {
  const isSegwit = transaction[4] === 0 && transaction[5] === 1;
  const reader = new Reader(transaction);
  const version = reader.take(4);
  if (isSegwit) reader.take(2);
  const first = reader.position;
  const inputs = reader.length();
  if (version === null || inputs === null) return null;
  const kept = [version, transaction.subarray(first, reader.position)];
  for (let index = 0; index < inputs; index++) {
    const [outpoint, script, sequence] = [reader.take(36), reader.field(), reader.take(4)];
    if (outpoint === null || script === null || sequence === null) return null;
    kept.push(outpoint, Uint8Array.of(0), sequence);
  }
  const outputs = reader.position;
  if (!reader.skipOutputs()) return null;
  kept.push(transaction.subarray(outputs, reader.position), transaction.subarray(-4));
  return Uint8Array.from(kept.flatMap((bytes) => [...bytes]));
}

/**
 * Whether a signed transaction in hex is the transaction of a PSBT. Signatures are not checked here, because the
 * service checks them.
 *
 * @param {Uint8Array} psbt
 * @param {string} hex
 */
export function signsTransaction(psbt, hex) {
  const bytes = bytesOf(hex);
  const [left, right] = [unsignedOf(psbt), bytes === null ? null : withoutSignatures(bytes)];
  return left !== null && right !== null && hexOf(left) === hexOf(right);
}

/**
 * The reason why the page does not pass a PSBT of the service to a wallet. `null` if the PSBT pays the amounts in its
 * description.
 *
 * @param {Readonly<{ psbtHex: string, chargeAmount?: number, outputs: readonly Readonly<{ address: string | null,
 *   value: number }>[] }>} built
 * @param {Readonly<{ address: string, sats: number }>} charge
 * @returns {string | null}
 */
export function builtProblem({ psbtHex, outputs }, { address, sats }) {
  const psbt = psbtBytes(psbtHex);
  const unsigned = psbt === null ? null : unsignedOf(psbt);
  const values = unsigned === null ? null : outputValues(unsigned);
  if (values === null)
    return 'The service did not answer with a PSBT. Nothing was signed or paid; try again.';
  if (values.length !== outputs.length || outputs.some(({ value }, index) => value !== values[index]))
    return 'The PSBT does not pay what the service says. Nothing was signed or paid; tell the operator.';
  const paid = outputs
    .filter((output) => output.address === address)
    .reduce((sum, { value }) => sum + value, 0);
  return paid < sats
    ? 'The PSBT pays less than the order needs. Nothing was signed or paid; try again.'
    : null;
}
