import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { scriptToAddress } from './address.ts';

/**
 * Maximum bytes of a script that is stored whole. Longer scripts are stored as their first 97 bytes and a sha256
 * (docs/adr/0098-tables-of-runes.md).
 */
const wholeScriptMax = 128;
const sha256Bytes = 32;

/** An owner of runes, or a party of a sale, by its script as it is stored. */
export interface StoredOwner {
  /** Null: the script has no address. */
  readonly address: string | null;
  /** The script in hex. Null: it is longer than 128 bytes. */
  readonly script: string | null;
  /** sha256 of a longer script. */
  readonly scriptSha256: string | null;
}

/** @param script whole, or cut as in rows of runes and sales */
export const isWholeScript = (script: Uint8Array): boolean => script.length <= wholeScriptMax;

/** @param script whole, or cut as in rows of runes and sales */
export function storedOwner(script: Uint8Array, network: NetworkParameters): StoredOwner {
  const isWhole = isWholeScript(script);
  return {
    address: isWhole ? scriptToAddress(script, network) : null,
    script: isWhole ? Buffer.from(script).toString('hex') : null,
    scriptSha256: isWhole ? null : Buffer.from(script.subarray(-sha256Bytes)).toString('hex'),
  };
}

/**
 * The stored owner as one text: the address, else the script in hex, else `sha256:` and the hash of a longer script.
 */
export function ownerText(script: Uint8Array, network: NetworkParameters): string {
  const { address, script: hex, scriptSha256 } = storedOwner(script, network);
  return address ?? hex ?? `sha256:${scriptSha256}`;
}
