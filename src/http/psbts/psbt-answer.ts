import { type Static, Type } from 'typebox';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { BuiltPsbt } from '#psbts/bytes/build-psbt.ts';
import { shownFeeRate } from '#psbts/planning/fee-rate.ts';
import { inputsOf, type OutputPurpose } from '#psbts/planning/psbt-plan.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';

const purposes: Readonly<Record<OutputPurpose, string>> = {
  deposit: 'a parent that goes to its deposit address',
  postage: 'goes to the funding address, for the inscription',
  charge: 'goes to the funding address, for the rest of the charge',
  ordinals: 'returns to the ordinals address',
  change: 'returns to the payment address',
  burn: 'no one can spend it',
  runestone: 'says where runes go',
};

/** Fields of an answer that this service adds to the fields of the public interface. */
export const builtFields = {
  fee: Type.Integer({ description: 'fee in sats' }),
  feeRate: Type.Number({ description: 'sats per virtual byte' }),
  outputs: Type.Array(
    Type.Object({
      address: Type.Union([Type.String(), Type.Null()]),
      value: Type.Integer({ description: 'sats' }),
      purpose: Type.Unsafe<OutputPurpose>({
        type: 'string',
        enum: Object.keys(purposes),
        description: Object.entries(purposes)
          .map(([name, meaning]) => `${name}: ${meaning}`)
          .join('; '),
      }),
    }),
    { description: 'in their order' },
  ),
  warnings: Type.Array(Type.String(), { description: 'what the customer should know before signing' }),
  unproven: Type.Array(Type.String(), { description: 'what could not be ruled out for the coins' }),
};

const indices = (description: string) => Type.Array(Type.Integer({ minimum: 0 }), { description });

/** The answer of PSBT builders. The public client passes it to a wallet. */
export const psbtAnswer = Type.Object({
  psbtBase64: Type.String(),
  psbtHex: Type.String(),
  ordinalInputIndices: indices('inputs that the ordinals address signs'),
  paymentInputIndices: indices('inputs that the payment address signs'),
  ...builtFields,
});

const builtAnswer = Type.Object(builtFields);

/** Returns the fields that this service adds to an answer. */
export function builtView(
  { plan, feeRate, warnings, unproven }: BuiltPsbt,
  network: NetworkParameters,
): Static<typeof builtAnswer> {
  return {
    fee: Number(plan.fee),
    feeRate: shownFeeRate(feeRate),
    outputs: plan.outputs.map(({ script, value, purpose }) => ({
      address: scriptToAddress(script, network),
      value: Number(value),
      purpose,
    })),
    warnings: [...warnings],
    unproven: [...unproven],
  };
}

/** The answer of a PSBT builder. */
export const psbtView = (built: BuiltPsbt, network: NetworkParameters): Static<typeof psbtAnswer> => ({
  psbtBase64: built.psbt.base64,
  psbtHex: built.psbt.hex,
  ordinalInputIndices: inputsOf(built.plan, 'ordinals'),
  paymentInputIndices: inputsOf(built.plan, 'payment'),
  ...builtView(built, network),
});

const signedInputs = (by: string) =>
  Type.Object({
    indices: Type.Array(Type.Integer({ minimum: 0 }), { description: `inputs that ${by} signs` }),
    address: Type.String(),
  });

/** The answer of the PSBT builders for token payments (interface 2.11). */
export const tokenPsbtAnswer = Type.Object({
  psbtBase64: Type.String(),
  psbtHex: Type.String(),
  runeInputs: signedInputs('the ordinals address'),
  paymentInputs: signedInputs('the payment address'),
  ...builtFields,
});

export const tokenPsbtView = (
  built: BuiltPsbt,
  { ordinals, payment }: Signers,
  network: NetworkParameters,
): Static<typeof tokenPsbtAnswer> => ({
  psbtBase64: built.psbt.base64,
  psbtHex: built.psbt.hex,
  runeInputs: { indices: inputsOf(built.plan, 'ordinals'), address: ordinals.address },
  paymentInputs: { indices: inputsOf(built.plan, 'payment'), address: payment.address },
  ...builtView(built, network),
});
