import { pubECDSA, pubSchnorr } from '@scure/btc-signer/utils.js';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { networks } from '#kernel/primitives/network.ts';
import { RequestValues } from '#kernel/requests/request-values.ts';
import { readSigner } from '#psbts/signers/read-signer.ts';
import type { Signer, SignerRole } from '#psbts/signers/signer.ts';
import { type AddressType, privateKey, typedAddress } from '#test/builders/regtest/regtest-address.ts';

/** Types of addresses that customers pay from. */
export const paymentTypes = [
  'p2tr',
  'p2wpkh',
  'p2sh-p2wpkh',
  'p2pkh',
] as const satisfies readonly AddressType[];
export type PaymentType = (typeof paymentTypes)[number];

/** An address of a customer on regtest, with the data that wallets have. */
export interface CustomerAddress {
  readonly owner: number;
  readonly type: PaymentType;
  readonly address: string;
  readonly script: Uint8Array;
  /** In hex: 32 bytes for P2TR, 33 bytes for other types. */
  readonly publicKey: string;
  readonly privateKey: Uint8Array;
}

/** Makes an owner's address of this type (test/builders/regtest). */
export function customerAddress(owner: number, type: PaymentType = 'p2tr'): CustomerAddress {
  const { script } = typedAddress(owner, type);
  const key = privateKey(owner);
  return {
    owner,
    type,
    address: scriptToAddress(script, networks.regtest)!,
    script,
    publicKey: Buffer.from(type === 'p2tr' ? pubSchnorr(key) : pubECDSA(key)).toString('hex'),
    privateKey: key,
  };
}

/** The signer of a customer's address. */
export function signerOf({ address, publicKey }: CustomerAddress, role: SignerRole = 'payment'): Signer {
  const values = new RequestValues();
  const given = {
    role,
    address: { name: 'address', value: address },
    publicKey: { name: 'publicKey', value: publicKey },
  };
  const signer = readSigner(values, given, networks.regtest);
  if (signer === null) throw new Error(values.faults.map(({ message }) => message).join('; '));
  return signer;
}

/** The fields of requests that name a customer's two addresses. */
export const signerBody = (payment: CustomerAddress, ordinals: CustomerAddress) => ({
  paymentAddress: payment.address,
  paymentPublicKey: payment.publicKey,
  ordinalAddress: ordinals.address,
  ordinalPublicKey: ordinals.publicKey,
});
