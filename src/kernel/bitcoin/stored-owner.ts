import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { scriptToAddress } from './address.ts';

/**
 * Maximum number of bytes of a script that is stored in full. For longer scripts, the first 97 bytes and a sha256 are
 * stored (docs/adr/0098-tables-of-runes.md).
 */
const wholeScriptMax = 128;
const sha256Bytes = 32;

/** An owner of runes, or a party of a sale, in the form of its stored script. */
export interface StoredOwner {
  /** The address. `null` if the script has no address. */
  readonly address: string | null;
  /** The script in hex. `null` if the script is longer than 128 bytes. */
  readonly script: string | null;
  /** sha256 of a script that is longer than 128 bytes, otherwise null. */
  readonly scriptSha256: string | null;
}

/** @param script a full script, or a cut script as in rows of runes and sales */
export const isWholeScript = (script: Uint8Array): boolean => script.length <= wholeScriptMax;

/** @param script a full script, or a cut script as in rows of runes and sales */
export function storedOwner(script: Uint8Array, network: NetworkParameters): StoredOwner {
  const isWhole = isWholeScript(script);
  return {
    address: isWhole ? scriptToAddress(script, network) : null,
    script: isWhole ? Buffer.from(script).toString('hex') : null,
    scriptSha256: isWhole ? null : Buffer.from(script.subarray(-sha256Bytes)).toString('hex'),
  };
}

/**
 * The stored owner as one text. It is the address if there is one, otherwise the script in hex, or `sha256:` and the
 * hash of a longer script.
 */
export function ownerText(script: Uint8Array, network: NetworkParameters): string {
  const { address, script: hex, scriptSha256 } = storedOwner(script, network);
  return address ?? hex ?? `sha256:${scriptSha256}`;
}
