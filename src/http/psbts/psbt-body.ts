import type { TSchema } from 'typebox';
import { accepted } from '#http/orders/order-body.schemas.ts';
import { exampleAddress } from '#http/parameters/list-parameters.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { RequestFault } from '#kernel/requests/request-values.ts';
import { feeRateBounds } from '#psbts/planning/fee-rate.ts';
import type { PsbtRefusal } from '#psbts/planning/refusal.ts';
import { signerFields } from '#psbts/signers/read-signers.ts';

type Fields = Readonly<Record<string, TSchema>>;

const key = { type: 'string', pattern: '^(?:[0-9a-fA-F]{64}|0[23][0-9a-fA-F]{64})$' };
const address = { type: 'string', pattern: '^[0-9A-Za-z]{14,90}$', examples: [exampleAddress] };

const descriptions = {
  payment: {
    address: 'address that pays fees and charges: P2TR, P2WPKH, P2SH-P2WPKH or P2PKH',
    publicKey: 'key of the payment address in hex, 33 or 32 bytes',
  },
  ordinals: {
    address: 'address of inscriptions and special sats, P2TR; absent: the address of its key',
    publicKey: 'internal key of the ordinals address in hex, 33 or 32 bytes',
  },
} as const;

/** The fields of both addresses of a customer, with the names that clients use. */
export const signerSchemas: Fields = Object.fromEntries(
  (['payment', 'ordinals'] as const).flatMap((role) =>
    (['address', 'publicKey'] as const).flatMap((part) => {
      const [first, ...others] = signerFields[role][part];
      const form = part === 'address' ? address : key;
      return [
        [first, accepted(descriptions[role][part], form)] as const,
        ...others.map((name) => [name, accepted(`another name of ${first}`, form)] as const),
      ];
    }),
  ),
);

/** The field of a fee rate. */
export const feeRateSchema: TSchema = accepted(
  `sats per virtual byte, ${feeRateBounds.least} to ${feeRateBounds.most}; absent or 0: the estimate of the node`,
  {
    anyOf: [
      { type: 'number', minimum: feeRateBounds.least, maximum: feeRateBounds.most },
      { type: 'string', pattern: '^[0-9]{1,5}([.][0-9]{1,30})?([eE][+-]?[0-9]{1,2})?$' },
    ],
  },
);

/** The field of an output. */
export const outpointSchema = (description: string): TSchema =>
  accepted(`${description}: <txid>:<vout>`, { type: 'string', pattern: '^[0-9a-fA-F]{64}:[0-9]{1,9}$' });

/**
 * Throws `request_invalid` if there are faults. An error of a builder has only one message, so the message contains all
 * faults, one per line.
 */
export function refuseFaulty(faults: readonly RequestFault[]): void {
  if (faults.length > 0) throw faultsError(faults);
}

/** The error of a request with faults. */
export function faultsError(faults: readonly RequestFault[]): AppError {
  const parameter = faults[0]?.parameter;
  return new AppError(
    'request_invalid',
    faults.map(({ message }) => message).join('\n'),
    parameter === undefined ? {} : { parameter },
  );
}

/** The error for a refusal. */
export const refusalError = ({ reason, parameter }: PsbtRefusal): AppError =>
  new AppError('request_invalid', reason, parameter === null ? {} : { parameter });
