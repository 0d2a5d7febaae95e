import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { OwnScript } from '#kernel/contracts/transaction-plan.ts';
import { networkNames } from '#kernel/primitives/network.ts';
import { accountOrigin } from './account-key.ts';
import { keyDescriptor, outputKeyDescriptor } from './descriptors.ts';
import type { PublicWallet } from './public-wallet.ts';

/** Maximum number of hex digits of a leaf. A longer leaf does not fit into a block. */
const leafHexMax = 8_000_000;

const kitSchema = Type.Object({
  version: Type.Literal(1),
  network: Type.Enum([...networkNames]),
  address: Type.String({ minLength: 1, maxLength: 90 }),
  script: Type.String({ pattern: '^(5120[0-9a-f]{64}|0014[0-9a-f]{40})$' }),
  masterFingerprint: Type.String({ pattern: '^[0-9a-f]{8}$' }),
  keyPath: Type.String({ pattern: "^m/86'/[01]'/0'/[013]/[0-9]{1,10}$" }),
  leafScript: Type.Union([Type.Null(), Type.String({ pattern: '^([0-9a-f]{2})+$', maxLength: leafHexMax })]),
  /** Hash of a leaf that was deleted. Absent if `leafScript` has the entire leaf, or if the address has no leaf. */
  leafHash: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
  descriptor: Type.String({ minLength: 1, maxLength: 1000 }),
});

/**
 * Data that is needed, together with the seed, to take back a payment to a wallet address without the database. It may
 * be stored anywhere, because it contains no secret. In particular, it contains no unhardened private key. Such a key
 * and the account's xpub would reveal all keys (BIP 32).
 */
export type RecoveryKit = Static<typeof kitSchema>;

/** Makes the kit of an address. */
export function recoveryKit(wallet: PublicWallet, own: OwnScript): RecoveryKit {
  const { branch, index } = own.key;
  const { address, script } = wallet.addressOf(own);
  const { network, masterFingerprint } = wallet.identity;
  return {
    version: 1,
    network,
    address,
    script: Buffer.from(script).toString('hex'),
    masterFingerprint,
    keyPath: `m/${accountOrigin(network).replaceAll('h', "'")}/${branch}/${index}`,
    leafScript: own.leafScript === null ? null : Buffer.from(own.leafScript).toString('hex'),
    ...(own.leafHash === undefined ? {} : { leafHash: Buffer.from(own.leafHash).toString('hex') }),
    // Bitcoin Core can watch this descriptor; no descriptor can describe an envelope
    descriptor:
      own.leafScript === null && own.leafHash === undefined
        ? keyDescriptor(wallet.identity, own.key)
        : outputKeyDescriptor(script.subarray(2)),
  };
}

/** Parses a kit. Returns null if the text is not a kit. Total. */
export function parseRecoveryKit(text: string): RecoveryKit | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return Value.Check(kitSchema, value) ? value : null;
}

/** Reads the key, and the leaf or its hash, from a kit. */
export function ownScriptOf({ keyPath, leafScript, leafHash }: RecoveryKit): OwnScript {
  const [branch, index] = keyPath.split('/').slice(-2).map(Number);
  return {
    // the schema allows only these branches
    key: { branch: branch === 0 || branch === 3 ? branch : 1, index: index ?? -1 },
    leafScript: leafScript === null ? null : bytesOf(leafScript),
    ...(leafHash === undefined ? {} : { leafHash: bytesOf(leafHash) }),
  };
}

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
