import { pushPrefix } from '#kernel/bitcoin/script-push.ts';

/** Types of burns in the public interface, which an indexer of BRC-20 understands. */
export const burnTypes = ['BRC20', 'BRC20PROG'] as const;
export type BurnType = (typeof burnTypes)[number];

const opReturn = 0x6a;

const withData = (data: Uint8Array): Uint8Array =>
  Uint8Array.of(opReturn, ...pushPrefix(data.length), ...data);

/**
 * Scripts of the outputs that burn, by type. Indexers compare all bytes of the script, so no byte may follow.
 *
 * - `BRC20`: an OP_RETURN without data burns the tokens of a transfer inscription (BRC20-IP-1, active since block
 *   837,090: l1f.discourse.group/t/621; OPI, modules/brc20_index, `OP_RETURN`).
 * - `BRC20PROG`: an OP_RETURN with this text gives an inscription to the programmable module of BRC2.0, which deploys
 *   the inscription's contract (bestinslot-xyz/brc20-proposals, 000-programmable-module; OPI,
 *   `BRC20_PROG_OP_RETURN_PKSCRIPT`, 6a09425243323050524f47).
 */
export const burnScripts: Readonly<Record<BurnType, Uint8Array>> = {
  BRC20: Uint8Array.of(opReturn),
  BRC20PROG: withData(Buffer.from('BRC20PROG', 'latin1')),
};

/** Maximum length of the metadata in the interface, in bytes of UTF-8. */
export const metadataBytesMax = 80;

/** Major type 3 of CBOR, which is a text (RFC 8949, 3.1). */
const textType = 0x60;
/** Minimum length that does not fit into the first byte. From this length up to 255, the length is in a second byte. */
const shortTextMax = 24;

/**
 * The script of a burn with metadata. The second element is a CBOR text, because ord reads metadata there (ord docs,
 * "Burning"). Without metadata the script is only an OP_RETURN, as in `burnScripts`.
 *
 * @param metadata text of at most `metadataBytesMax` bytes; empty if there is no metadata
 */
export function burnScriptWith(metadata: string): Uint8Array {
  const text = Buffer.from(metadata, 'utf8');
  if (text.length === 0) return burnScripts.BRC20;
  const head = text.length < shortTextMax ? [textType + text.length] : [textType + shortTextMax, text.length];
  return withData(Uint8Array.of(...head, ...text));
}
