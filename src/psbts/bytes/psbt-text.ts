import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import { decodeBase64, readBase64 } from '#orders/reading/base64.ts';
import { psbtFault } from './psbt-faults.ts';

/**
 * Maximum size of a PSBT in bytes. The largest transaction that nodes relay has 1,700 inputs. With a signature and a
 * spent output for each input, its PSBT has 450 kB. The rest is for previous transactions, which hardware wallets and
 * P2PKH inputs need.
 */
export const psbtBytesMax = 1_000_000;

/** Maximum number of characters of a PSBT. The longest form is hex, with two characters per byte. */
const charsMax = 2 * psbtBytesMax;

/**
 * Reads the bytes of a PSBT in all forms that wallets use: hex, or base64 in either alphabet, with or without padding.
 * Throws `PsbtFaults`.
 *
 * @param given text of the PSBT, or the bytes of the text in UTF-8
 * @param name name of the field in messages
 */
export function* psbtBytes(given: string | Uint8Array, name: string): Steps<Uint8Array> {
  const text = (typeof given === 'string' ? given : Buffer.from(given).toString('utf8')).trim();
  if (text === '') throw psbtFault(`${name} is required.`);
  const tooLong = (length: string) =>
    psbtFault(`${name} has ${length}, but a PSBT may have at most ${psbtBytesMax} bytes.`);
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
  if (typeof read === 'string') throw psbtFault(`${name} is neither hex nor base64 (it ${read}).`);
  return yield* decodeBase64(read);
}
