import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';
import { type GivenField, readSigner } from './read-signer.ts';
import type { Signer, SignerRole } from './signer.ts';

/** The two addresses of a customer. They may be equal. */
export interface Signers {
  readonly payment: Signer;
  readonly ordinals: Signer;
}

type Body = Readonly<Record<string, unknown>>;

/**
 * Names of the fields. The names of the interface come first, then the names that the public client and older clients
 * use (client compatibility, 3.10).
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

/** Reads both signers of a request. Returns null after adding the faults of both signers to `values`. Total. */
export function readSigners(values: RequestValues, body: Body, network: NetworkParameters): Signers | null {
  const payment = readSignerOf(values, body, 'payment', network);
  const ordinals = readSignerOf(values, body, 'ordinals', network);
  return payment === null || ordinals === null ? null : { payment, ordinals };
}

/** Reads one signer of a request, by its role. Returns null after adding the faults to `values`. Total. */
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

/** Reads a field that has several names. If two names are given with different values, this is a fault. */
function fieldOf(values: RequestValues, body: Body, names: readonly [string, ...string[]]): GivenField {
  const [first = names[0], ...others] = names.filter((name) => isGiven(body[name]));
  const value = body[first];
  for (const other of others) if (body[other] !== value) values.fault(other, `differs from ${first}`);
  return { name: first, value };
}
