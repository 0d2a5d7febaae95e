import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { scriptType } from './script-type.ts';
import { witnessAddress } from './witness-address.ts';

const base58check = createBase58check((bytes: Uint8Array) =>
  Uint8Array.from(createHash('sha256').update(bytes).digest()),
);

const opOne = 0x51;

/**
 * The address of an output script, in the form of rust-bitcoin's `Address::from_script` and of ord. P2PKH and P2SH are
 * base58check. Witness programs of version 0 are bech32 (BIP 173), and of versions 1 to 16 are bech32m (BIP 350). Null
 * for every other script, and for a version 0 program that is neither 20 nor 32 bytes long (BIP 141).
 */
export function scriptToAddress(script: Uint8Array, network: NetworkParameters): string | null {
  const type = scriptType(script);
  switch (type) {
    case 'p2pkh':
      return versioned(network.p2pkhVersion, script.subarray(3, 23));
    case 'p2sh':
      return versioned(network.p2shVersion, script.subarray(2, 22));
    case 'p2wpkh':
    case 'p2wsh':
      return witnessAddress(network.bech32, 0, script.subarray(2));
    case 'p2tr':
    case 'p2a':
    case 'witness':
      return witnessAddress(network.bech32, (script[0] ?? opOne) - opOne + 1, script.subarray(2));
    case 'other':
      return null;
    default:
      return unreachable(type);
  }
}

function versioned(version: number, hash: Uint8Array): string {
  const bytes = new Uint8Array(1 + hash.length);
  bytes[0] = version;
  bytes.set(hash, 1);
  return base58check.encode(bytes);
}
