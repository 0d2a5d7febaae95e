import { pushPrefix } from '#kernel/bitcoin/script-push.ts';

/** The interface's names of burns that an indexer of BRC-20 understands. */
export const burnTypes = ['BRC20', 'BRC20PROG'] as const;
export type BurnType = (typeof burnTypes)[number];

const opReturn = 0x6a;

const withData = (data: Uint8Array): Uint8Array =>
  Uint8Array.of(opReturn, ...pushPrefix(data.length), ...data);

/**
 * Scripts of the outputs that burn, by type. Indexers compare them byte by byte, so no byte may follow.
 *
 * `BRC20`: an OP_RETURN without data burns the tokens of a transfer inscription (BRC20-IP-1, in force since block
 * 837,090: l1f.discourse.group/t/621; OPI, modules/brc20_index, `OP_RETURN`). `BRC20PROG`: OP_RETURN with this text
 * gives an inscription to the programmable module of BRC2.0, which deploys its contract
 * (bestinslot-xyz/brc20-proposals, 000-programmable-module; OPI, `BRC20_PROG_OP_RETURN_PKSCRIPT`,
 * 6a09425243323050524f47).
 */
export const burnScripts: Readonly<Record<BurnType, Uint8Array>> = {
  BRC20: Uint8Array.of(opReturn),
  BRC20PROG: withData(Buffer.from('BRC20PROG', 'latin1')),
};

/** Maximum length of metadata in the interface, in bytes of UTF-8. */
export const metadataBytesMax = 80;

/** Major type 3 of CBOR: a text (RFC 8949, 3.1). */
const textType = 0x60;
/** Lengths below this are in the first byte, and others up to 255 in a second one. */
const shortTextMax = 24;

/**
 * The script of a burn with metadata: a CBOR text as the second element, where ord reads it (ord docs, "Burning").
 * Without metadata: only an OP_RETURN, as in `burnScripts`.
 *
 * @param metadata at most `metadataBytesMax`; empty: none
 */
export function burnScriptWith(metadata: string): Uint8Array {
  const text = Buffer.from(metadata, 'utf8');
  if (text.length === 0) return burnScripts.BRC20;
  const head = text.length < shortTextMax ? [textType + text.length] : [textType + shortTextMax, text.length];
  return withData(Uint8Array.of(...head, ...text));
}
