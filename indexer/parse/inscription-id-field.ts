const txidLength = 32;
const idLength = 36;

/**
 * Whether a field's value is an inscription id (ord inscription_id.rs): a txid and an index of up to four bytes,
 * little endian; an index of less than four bytes must not end in a zero byte.
 */
export function isInscriptionId(value: Uint8Array): boolean {
  const { length } = value;
  if (length < txidLength || length > idLength) return false;
  return length === txidLength || length === idLength || value[length - 1] !== 0;
}

/** The 36 bytes (txid, index little endian) of a value for which `isInscriptionId` holds. */
export function inscriptionIdBytes(value: Uint8Array): Uint8Array {
  const id = new Uint8Array(idLength);
  id.set(value);
  return id;
}
