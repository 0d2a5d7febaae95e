import { createHash } from 'node:crypto';
import { bech32, bech32m, createBase58check } from '@scure/base';
import { type NetworkParameters, networks } from '#kernel/primitives/network.ts';
import { scriptToAddress } from './address.ts';

const base58check = createBase58check((bytes: Uint8Array) =>
  Uint8Array.from(createHash('sha256').update(bytes).digest()),
);

export type ParsedAddress =
  | { readonly kind: 'script'; readonly script: Uint8Array }
  /** `reason` is in words for people. It continues a sentence that begins with "the address". */
  | { readonly kind: 'refused'; readonly reason: string };

/** Maximum number of characters in an address (BIP 173). Base58 addresses have 35 characters at most. */
const addressCharsMax = 90;
const hashBytes = 20;
const witnessVersionMax = 16;
const opOne = 0x51;

const otherNetwork = { kind: 'refused', reason: 'belongs to another network' } as const;
const noAddress = { kind: 'refused', reason: 'is not a Bitcoin address' } as const;

/**
 * The output script of an address (the inverse of `scriptToAddress`). Accepts P2PKH and P2SH in base58check, and
 * witness programs of version 0 in bech32 (BIP 173) and of versions 1 to 16 in bech32m (BIP 350), in upper or lower
 * case. Any text has a result. An invalid address, or an address of another network, is refused with the reason.
 */
export function parseAddress(text: string, network: NetworkParameters): ParsedAddress {
  if (text.length > addressCharsMax) return noAddress;
  const prefix = segwitPrefix(text);
  if (prefix === null) return parseBase58(text, network);
  const script = witnessScript(text, prefix, network);
  if (script === null) return noAddress;
  return prefix === network.bech32 ? { kind: 'script', script } : otherNetwork;
}

const prefixes = [...new Set(Object.values(networks).map(({ bech32: prefix }) => prefix))];

function segwitPrefix(text: string): string | null {
  const separator = text.lastIndexOf('1');
  const prefix = text.slice(0, Math.max(separator, 0)).toLowerCase();
  return prefixes.includes(prefix) ? prefix : null;
}

/** The script of a segwit address. `null` if the checksum, case, version or program is invalid. */
function witnessScript(text: string, prefix: string, network: NetworkParameters): Uint8Array | null {
  const lower = text.toLowerCase();
  if (text !== lower && text !== text.toUpperCase()) return null;
  const data = lower.slice(prefix.length + 1);
  // the first character of the data is the version, and q means 0
  const coder = data.startsWith('q') ? bech32 : bech32m;
  let version: number | undefined;
  let program: Uint8Array;
  try {
    const { words } = coder.decode(lower as `${string}1${string}`, addressCharsMax);
    version = words[0];
    program = coder.fromWords(words.slice(1));
  } catch {
    return null;
  }
  if (version === undefined || version > witnessVersionMax) return null;
  const script = Uint8Array.of(version === 0 ? 0 : opOne + version - 1, program.length, ...program);
  // checks that the length of the program is valid
  return scriptToAddress(script, network) === null ? null : script;
}

function parseBase58(text: string, network: NetworkParameters): ParsedAddress {
  let bytes: Uint8Array;
  try {
    bytes = base58check.decode(text);
  } catch {
    return noAddress;
  }
  const version = bytes[0]!;
  if (bytes.length !== 1 + hashBytes) return noAddress;
  const hash = bytes.subarray(1);
  if (version === network.p2pkhVersion) {
    return { kind: 'script', script: Uint8Array.of(0x76, 0xa9, hashBytes, ...hash, 0x88, 0xac) };
  }
  if (version === network.p2shVersion) {
    return { kind: 'script', script: Uint8Array.of(0xa9, hashBytes, ...hash, 0x87) };
  }
  const isKnown = Object.values(networks).some(
    ({ p2pkhVersion, p2shVersion }) => version === p2pkhVersion || version === p2shVersion,
  );
  return isKnown ? otherNetwork : noAddress;
}
