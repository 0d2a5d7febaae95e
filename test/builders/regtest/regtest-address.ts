import { hash as digest } from 'node:crypto';
import {
  p2ms,
  p2pk,
  p2pkh,
  p2sh,
  p2tr,
  p2tr_ms,
  p2tr_pk,
  p2wpkh,
  p2wsh,
  TEST_NETWORK,
  utils,
} from '@scure/btc-signer';
import { pubECDSA } from '@scure/btc-signer/utils.js';

export const regtest = { ...TEST_NETWORK, bech32: 'bcrt' };

/** The private key of an owner. */
export const privateKey = (owner: number): Uint8Array =>
  Uint8Array.from(digest('sha256', `owner ${owner}`, 'buffer'));

/** Types of addresses that need one or two keys. */
export const addressTypes = [
  'p2pk',
  'p2pkh',
  'p2sh-p2wpkh',
  'p2wpkh',
  'p2wsh',
  'p2tr',
  'p2tr-leaf',
  'p2sh-2of2',
  'p2wsh-2of2',
  'p2tr-2of2',
] as const;

export type AddressType = (typeof addressTypes)[number];

/** An output script, and the data that an input needs to spend it. */
export interface TypedAddress {
  readonly script: Uint8Array;
  readonly spending: {
    readonly redeemScript?: Uint8Array;
    readonly witnessScript?: Uint8Array;
    readonly tapInternalKey?: Uint8Array;
    readonly tapMerkleRoot?: Uint8Array;
    readonly tapLeafScript?: NonNullable<ReturnType<typeof p2tr>['tapLeafScript']>;
  };
  /** The keys that sign, in order. */
  readonly signers: readonly Uint8Array[];
}

/** Whether two keys sign for an address: the owner's key, and the key of a service. */
export const isShared = (type: AddressType): boolean => type.endsWith('-2of2');

const known = new Map<string, TypedAddress>();

/** An owner's address of a type. */
export function typedAddress(owner: number, type: AddressType): TypedAddress {
  const name = `${type} ${owner}`;
  const found = known.get(name) ?? made(owner, type);
  known.set(name, found);
  return found;
}

/** The owner of internal keys, who never signs. Leaves can then be spent only with the signatures that they require. */
const unusedOwner = -1;
/** The second key of an address that has two keys. */
const servicesKey = privateKey(-2);

function made(owner: number, type: AddressType): TypedAddress {
  const own = privateKey(owner);
  const signers = isShared(type) ? [own, servicesKey] : [own];
  const { script, redeemScript, witnessScript, tapLeafScript, tapMerkleRoot, tapInternalKey } = payment(
    type,
    signers,
  );
  return {
    script,
    spending: {
      ...(redeemScript === undefined ? {} : { redeemScript }),
      ...(witnessScript === undefined ? {} : { witnessScript }),
      ...(tapLeafScript === undefined ? {} : { tapLeafScript }),
      ...(tapMerkleRoot === undefined ? {} : { tapMerkleRoot }),
      ...(tapInternalKey === undefined ? {} : { tapInternalKey }),
    },
    signers,
  };
}

/** An address in the form of the library. Fields of other address types are absent. */
type Payment = Pick<TypedAddress, 'script'> & {
  readonly [Field in keyof TypedAddress['spending']]?: TypedAddress['spending'][Field] | undefined;
};

function payment(type: AddressType, signers: readonly Uint8Array[]): Payment {
  const keys = signers.map((signer) => pubECDSA(signer));
  const schnorrKeys = signers.map((signer) => utils.pubSchnorr(signer));
  const [key, schnorrKey] = [keys[0]!, schnorrKeys[0]!];
  const internal = utils.pubSchnorr(privateKey(unusedOwner));
  switch (type) {
    case 'p2pk':
      return p2pk(key, regtest);
    case 'p2pkh':
      return p2pkh(key, regtest);
    case 'p2sh-p2wpkh':
      return p2sh(p2wpkh(key, regtest), regtest);
    case 'p2wpkh':
      return p2wpkh(key, regtest);
    case 'p2wsh':
      return p2wsh(p2pk(key, regtest), regtest);
    case 'p2tr':
      return p2tr(schnorrKey, undefined, regtest);
    case 'p2tr-leaf':
      return p2tr(internal, { script: p2tr_pk(schnorrKey).script }, regtest);
    case 'p2sh-2of2':
      return p2sh(p2ms(2, keys), regtest);
    case 'p2wsh-2of2':
      return p2wsh(p2ms(2, keys), regtest);
    case 'p2tr-2of2':
      return p2tr(internal, { script: p2tr_ms(2, schnorrKeys).script }, regtest);
  }
}
