import { hash160 } from '@scure/btc-signer/utils.js';
import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import type { Judged } from './check-signatures.ts';
import {
  byKey,
  type FinalInput,
  finalInput,
  hashSteps,
  type InputContext,
  notSigned,
  type Signed,
  signedByKey,
  textOf,
  tooFewSignatures,
  wrongSignature,
} from './final-input.ts';
import { finalizeTaproot } from './finalize-taproot.ts';
import { judgeFinal } from './judge-final.ts';
import type { FinalScripts, PartialSignature, PsbtInput } from './psbt.ts';
import { type PsbtFaults, psbtFault } from './psbt-faults.ts';
import { type EcdsaSpend, finalScriptsOf, spendOf } from './spend.ts';

/** Makes the final fields of an input (BIP 174, "Input Finalizer"). Throws `PsbtFaults`. */
export function* finalizeInput(input: PsbtInput, context: InputContext): Steps<FinalInput> {
  const { place, owner } = context;
  if (input.final !== null) return yield* keepFinal(input, input.final, context);
  if (input.spent === null) throw nothingKnown(input, place);
  const spend = spendOf(input.spent, input, place);
  if (spend.kind === 'taproot') return yield* finalizeTaproot(input, spend.outputKey, context);
  if (input.partialSignatures.length === 0) throw notSigned(context);
  if (spend.kind === 'other')
    throw psbtFault(
      `Input ${place}: this server does not know how to spend the script of ${owner}. Finalize the input with the wallet of its owner.`,
    );
  const { items, judged } = yield* itemsOf(input, spend, { ...context, value: input.spent.value });
  return finalInput(finalScriptsOf(spend, items), judged);
}

function nothingKnown(input: PsbtInput, place: number): PsbtFaults {
  const { partialSignatures, tapKeySignatures, tapLeafSignatures } = input;
  const isSigned = partialSignatures.length + tapKeySignatures.length + tapLeafSignatures.length > 0;
  return psbtFault(
    isSigned
      ? `Input ${place}: the PSBT does not say which output it spends, so its signature cannot be placed.`
      : `Input ${place} is not signed, and the PSBT does not say which output it spends.`,
  );
}

/** Keeps the final scripts that a wallet made. Throws `PsbtFaults` if their signatures are wrong. */
function* keepFinal(input: PsbtInput, scripts: FinalScripts, context: InputContext): Steps<FinalInput> {
  const judged = yield* judgeFinal(input, scripts, context);
  if (judged === null) return { scripts, types: [], isProven: false };
  if (judged.some(({ verdict }) => verdict === 'wrong')) throw wrongSignature(context);
  return finalInput(scripts, judged);
}

type EcdsaContext = InputContext & { readonly value: bigint };

/** The script items of a spend that does not use Taproot. Throws `PsbtFaults` if a signature is missing or wrong. */
function* itemsOf(
  input: PsbtInput,
  spend: EcdsaSpend,
  context: EcdsaContext,
): Steps<{ readonly items: readonly Uint8Array[]; readonly judged: readonly Judged[] }> {
  const { wanted } = spend;
  if (wanted.kind === 'key-hash') {
    const publicKey = yield* keyWithHash(wanted.hash, input.partialSignatures);
    const own = input.partialSignatures.filter(
      (one) => Buffer.compare(one.publicKey, publicKey ?? none) === 0,
    );
    const signed = publicKey === null ? null : yield* signatureOf(publicKey, own, input, spend, context);
    if (publicKey === null || signed === null) throw notSigned(context);
    return { items: [signed.signature, publicKey], judged: [signed.judged] };
  }
  const { required, keys, isSingle } = wanted;
  const found: Signed[] = [];
  const missing: Uint8Array[] = [];
  const given = byKey(input.partialSignatures);
  yield input.partialSignatures.length * hashSteps;
  for (const key of keys) {
    if (found.length === required) break;
    const signed = yield* signatureOf(key, given.get(textOf(key)) ?? [], input, spend, context);
    if (signed === null) missing.push(key);
    else found.push(signed);
  }
  if (found.length < required) throw tooFewSignatures(context, { found: found.length, required, missing });
  const signatures = found.map(({ signature }) => signature);
  return {
    // OP_CHECKMULTISIG takes one more item from the stack than it needs
    items: isSingle ? signatures : [new Uint8Array(), ...signatures],
    judged: found.map(({ judged }) => judged),
  };
}

const none = new Uint8Array();
const keyLengths: readonly number[] = [33, 65];

/** Finds the key with this hash among the keys that signed. Returns null if the key did not sign. */
function* keyWithHash(hash: Uint8Array, signed: readonly PartialSignature[]): Steps<Uint8Array | null> {
  for (const { publicKey } of signed) {
    if (!keyLengths.includes(publicKey.length)) continue;
    yield hashSteps;
    if (Buffer.compare(hash160(publicKey), hash) === 0) return publicKey;
  }
  return null;
}

/** Finds the signature of a key. Returns and throws like `signedByKey`. */
const signatureOf = (
  publicKey: Uint8Array,
  own: readonly PartialSignature[],
  { sighashType }: PsbtInput,
  { scheme, code }: EcdsaSpend,
  context: EcdsaContext,
): Steps<Signed | null> => {
  const { place, checks, value } = context;
  const judge = (signature: Uint8Array): Judged =>
    checks.ecdsa(place, publicKey, signature, { scheme, code, value });
  return signedByKey(own, judge, sighashType, context);
};
