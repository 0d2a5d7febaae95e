import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { isPointX } from '#kernel/bitcoin/curve-point.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import { scriptType } from '#kernel/bitcoin/script-type.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { RequestValues } from '#kernel/requests/request-values.ts';
import { type Signer, type SignerRole, type SignerType, scriptsOfKey, taprootScript } from './signer.ts';

/** A field of a request: the name that the client used, and the value. */
export interface GivenField {
  readonly name: string;
  readonly value: unknown;
}

export interface GivenSigner {
  readonly role: SignerRole;
  readonly address: GivenField;
  readonly publicKey: GivenField;
}

/** A public key that is a point on the curve. */
interface GivenKey {
  /** The compressed key, or null if only the x coordinate was given. */
  readonly compressed: Uint8Array | null;
  readonly x: Uint8Array;
}

/** Hex digits of an x coordinate (32 bytes) or of a compressed key (33 bytes). */
const keyPattern = /^(?:[0-9a-f]{64}|[0-9a-f]{66})$/iu;
const uncompressedPattern = /^04[0-9a-f]{128}$/iu;
/** Prefixes of compressed keys, by the parity of y. */
const [evenPrefix, oddPrefix] = [0x02, 0x03] as const;

const noTaproot = 'must be a taproot address (P2TR)';
const noType =
  'must be P2TR, P2WPKH, P2SH-P2WPKH or P2PKH, because no common wallet signs for outputs of other addresses';

/**
 * Reads the signer: an address and its public key. Returns null if something is wrong. `values` then has a sentence for
 * each mistake. Total. Takes a millisecond for P2TR.
 *
 * If the ordinals address is missing, it is derived from its key (BIP 86), because clients of the public interface omit
 * it.
 */
export function readSigner(
  values: RequestValues,
  { role, address, publicKey }: GivenSigner,
  network: NetworkParameters,
): Signer | null {
  const text = values.text(address.value, address.name);
  const key = readKey(values, publicKey);
  if (text === null) {
    if (role === 'ordinals' && key !== null) return derivedOrdinals(key, network);
    // if the key is missing, only that fault is reported, because the address is derived from the key
    if (role === 'payment' || key !== null) values.required(address.value, address.name);
    return null;
  }
  const found = readAddress(values, { role, name: address.name, text }, network);
  if (found === null || key === null) return null;
  const signer = found.type === 'p2tr' ? taprootSigner(key, found) : hashSigner(key, found.type, found);
  if (signer === null) return values.fault(publicKey.name, whyNotIts(key, found, address.name));
  return { role, address: text, ...signer };
}

interface ReadAddress {
  readonly script: Uint8Array;
  readonly type: SignerType;
}

function readAddress(
  values: RequestValues,
  { role, name, text }: { readonly role: SignerRole; readonly name: string; readonly text: string },
  network: NetworkParameters,
): ReadAddress | null {
  const parsed = parseAddress(text, network);
  if (parsed.kind === 'refused')
    return values.fault(name, `${parsed.reason}, but this server serves ${network.name}`);
  const { script } = parsed;
  const type = scriptType(script);
  if (role === 'ordinals') return type === 'p2tr' ? { script, type } : values.fault(name, noTaproot);
  if (type === 'p2tr' || type === 'p2wpkh' || type === 'p2sh' || type === 'p2pkh') return { script, type };
  return values.fault(name, noType);
}

function readKey(values: RequestValues, { name, value }: GivenField): GivenKey | null {
  const text = values.text(value, name);
  if (text === null) return values.required(value, name);
  if (uncompressedPattern.test(text))
    return values.fault(name, 'must be a compressed key, of 33 or 32 bytes');
  if (!keyPattern.test(text)) return values.fault(name, 'must be a public key of 33 or 32 bytes in hex');
  const bytes = Uint8Array.from(Buffer.from(text, 'hex'));
  const [compressed, x] = bytes.length === 33 ? [bytes, bytes.subarray(1)] : [null, bytes];
  const prefix = compressed?.[0] ?? evenPrefix;
  const isKey = (prefix === evenPrefix || prefix === oddPrefix) && isPointX(x);
  return isKey ? { compressed, x } : values.fault(name, 'is not a point of the curve secp256k1');
}

type KeyParts = Omit<Signer, 'role' | 'address'>;

function taprootSigner({ compressed, x }: GivenKey, { script }: ReadAddress): KeyParts | null {
  if (!isEqual(taprootScript(x), script)) return null;
  return { script, type: 'p2tr', publicKey: compressed, internalKey: x, redeemScript: null };
}

/** Finds the signer for a key. A key of 32 bytes could be either of two points, so both are tried. */
function hashSigner(
  { compressed, x }: GivenKey,
  type: Exclude<SignerType, 'p2tr'>,
  { script }: ReadAddress,
): KeyParts | null {
  const candidates =
    compressed === null ? [evenPrefix, oddPrefix].map((prefix) => Uint8Array.of(prefix, ...x)) : [compressed];
  for (const publicKey of candidates) {
    const made = scriptsOfKey(type, publicKey);
    if (isEqual(made.script, script)) return { ...made, script, type, publicKey, internalKey: null };
  }
  return null;
}

function derivedOrdinals(key: GivenKey, network: NetworkParameters): Signer | null {
  const script = taprootScript(key.x);
  const address = scriptToAddress(script, network);
  const parts = taprootSigner(key, { script, type: 'p2tr' });
  return address === null || parts === null ? null : { role: 'ordinals', address, ...parts };
}

/** Explains why a key does not belong to an address, in words that follow the name of the key. */
function whyNotIts({ x }: GivenKey, { type, script }: ReadAddress, address: string): string {
  if (type === 'p2tr' && isEqual(x, script.subarray(2)))
    return `is the tweaked key of ${address}; send the internal key, which wallets call the public key of the address (BIP 86)`;
  const hint = type === 'p2sh' ? ', as P2SH-P2WPKH' : '';
  return `is not the key of ${address}${hint}`;
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
