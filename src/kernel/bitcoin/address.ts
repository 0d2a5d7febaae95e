import { createHash } from 'node:crypto';
import { bech32, bech32m, createBase58check } from '@scure/base';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

const base58check = createBase58check((bytes: Uint8Array) =>
  Uint8Array.from(createHash('sha256').update(bytes).digest()),
);

const opZero = 0x00;
const opOne = 0x51;
const opSixteen = 0x60;

/**
 * The address of an output script, as rust-bitcoin's `Address::from_script` gives it (ord shows that one):
 * P2PKH and P2SH in base58check, witness programs of version 0 in bech32 (BIP 173), of versions 1 to 16 in
 * bech32m (BIP 350). Null for every other script, for a version 0 program that is neither 20 nor 32 bytes long
 * (BIP 141) too.
 */
export function scriptToAddress(script: Uint8Array, network: NetworkParameters): string | null {
  if (isPayToPublicKeyHash(script)) return versioned(network.p2pkhVersion, script.subarray(3, 23));
  if (isPayToScriptHash(script)) return versioned(network.p2shVersion, script.subarray(2, 22));
  const version = witnessVersion(script);
  if (version === null) return null;
  const program = script.subarray(2);
  if (version === 0) {
    if (program.length !== 20 && program.length !== 32) return null;
    return bech32.encode(network.bech32, [0, ...bech32.toWords(program)]);
  }
  return bech32m.encode(network.bech32, [version, ...bech32m.toWords(program)]);
}

function versioned(version: number, hash: Uint8Array): string {
  const bytes = new Uint8Array(1 + hash.length);
  bytes[0] = version;
  bytes.set(hash, 1);
  return base58check.encode(bytes);
}

// OP_DUP OP_HASH160 <20 bytes> OP_EQUALVERIFY OP_CHECKSIG
function isPayToPublicKeyHash(script: Uint8Array): boolean {
  return (
    script.length === 25 &&
    script[0] === 0x76 &&
    script[1] === 0xa9 &&
    script[2] === 20 &&
    script[23] === 0x88 &&
    script[24] === 0xac
  );
}

// OP_HASH160 <20 bytes> OP_EQUAL
function isPayToScriptHash(script: Uint8Array): boolean {
  return script.length === 23 && script[0] === 0xa9 && script[1] === 20 && script[22] === 0x87;
}

/** Version of a witness program (BIP 141: one version opcode, one push of 2 to 40 bytes), else null. */
function witnessVersion(script: Uint8Array): number | null {
  const [opcode, push] = script;
  if (opcode === undefined || push === undefined) return null;
  if (push < 2 || push > 40 || script.length !== 2 + push) return null;
  if (opcode === opZero) return 0;
  return opcode >= opOne && opcode <= opSixteen ? opcode - opOne + 1 : null;
}
