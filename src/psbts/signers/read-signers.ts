import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';
import { type GivenField, readSigner } from './read-signer.ts';
import type { Signer, SignerRole } from './signer.ts';

/** The two addresses of a customer. Both may be the same one. */
export interface Signers {
  readonly payment: Signer;
  readonly ordinals: Signer;
}

type Body = Readonly<Record<string, unknown>>;

/**
 * Names of the fields. Those of the interface come first, then those of the public client and older ones (client
 * compatibility, 3.10).
 */
export const signerFields = {
  payment: {
    address: ['paymentAddress', 'userAddress'],
    publicKey: ['paymentPublicKey', 'userPublicKey'],
  },
  ordinals: {
    address: ['ordinalAddress', 'ordinalsAddress', 'userOrdinalsAddress'],
    publicKey: ['ordinalPublicKey', 'ordinalsPublicKey', 'userOrdinalPublicKey', 'userOrdinalsPublicKey'],
  },
} as const satisfies Readonly<
  Record<SignerRole, Readonly<Record<'address' | 'publicKey', readonly string[]>>>
>;

/** Both signers of a request. Null: `values` has the faults, of both at once. Total. */
export function readSigners(values: RequestValues, body: Body, network: NetworkParameters): Signers | null {
  const payment = readSignerOf(values, body, 'payment', network);
  const ordinals = readSignerOf(values, body, 'ordinals', network);
  return payment === null || ordinals === null ? null : { payment, ordinals };
}

/** One signer of a request, by its role. Null: `values` has the faults. Total. */
export function readSignerOf(
  values: RequestValues,
  body: Body,
  role: SignerRole,
  network: NetworkParameters,
): Signer | null {
  const { address, publicKey } = signerFields[role];
  const given = {
    role,
    address: fieldOf(values, body, address),
    publicKey: fieldOf(values, body, publicKey),
  };
  return readSigner(values, given, network);
}

/** The field of a request that has several names. Two names with different values are a fault. */
function fieldOf(values: RequestValues, body: Body, names: readonly [string, ...string[]]): GivenField {
  const [first = names[0], ...others] = names.filter((name) => isGiven(body[name]));
  const value = body[first];
  for (const other of others) if (body[other] !== value) values.fault(other, `differs from ${first}`);
  return { name: first, value };
}
