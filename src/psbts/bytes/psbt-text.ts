import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import { decodeBase64, readBase64 } from '#orders/reading/base64.ts';
import { psbtFault } from './psbt-faults.ts';

/**
 * Bytes of a PSBT. The largest transaction that nodes relay has 1,700 inputs: with a signature and the spent output of
 * each it has 450 kB. The rest is for the previous transactions of hardware wallets and of P2PKH.
 */
export const psbtBytesMax = 1_000_000;

/** Hex has two characters for a byte, the most of all forms. */
const charsMax = 2 * psbtBytesMax;

/**
 * The bytes of a PSBT in the forms of wallets: hex, or base64 in either alphabet, with or without padding. Throws
 * `PsbtFaults`.
 *
 * @param given a text, or one in UTF-8
 * @param name of the field, for messages
 */
export function* psbtBytes(given: string | Uint8Array, name: string): Steps<Uint8Array> {
  const text = (typeof given === 'string' ? given : Buffer.from(given).toString('utf8')).trim();
  if (text === '') throw psbtFault(`${name} is required.`);
  const tooLong = (length: string) =>
    psbtFault(`${name} has ${length}: a PSBT has at most ${psbtBytesMax} bytes.`);
  if (text.length > charsMax) throw tooLong(`${text.length} characters`);
  yield text.length;
  const bytes = yield* decoded(text, name);
  if (bytes.length > psbtBytesMax) throw tooLong(`${bytes.length} bytes`);
  return bytes;
}

function* decoded(text: string, name: string): Steps<Uint8Array> {
  if (/^[0-9a-f]+$/iu.test(text)) {
    if (text.length % 2 === 1) throw psbtFault(`${name} is hex with an odd number of digits.`);
    return Buffer.from(text, 'hex');
  }
  const read = yield* readBase64(Buffer.from(text));
  if (typeof read === 'string') throw psbtFault(`${name} is neither hex nor base64: it ${read}.`);
  return yield* decodeBase64(read);
}
