import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import type { Judged } from './check-signatures.ts';
import {
  byKey,
  checkSteps,
  distinct,
  type FinalInput,
  finalInput,
  firstSigned,
  hashSteps,
  type InputContext,
  notSigned,
  type Signed,
  signedByKey,
  textOf,
  tooFewSignatures,
  wrongSignature,
} from './final-input.ts';
import type { PsbtInput, TapLeaf } from './psbt.ts';
import { psbtFault } from './psbt-faults.ts';
import { leafKeys } from './script-template.ts';
import { leafHashOf, tapscriptVersion } from './tap-leaf.ts';

const noScript = new Uint8Array();

/**
 * Makes the final witness of a P2TR input. The input is spent by key if possible, otherwise by a script that has all
 * its signatures. Throws `PsbtFaults`.
 */
export function* finalizeTaproot(
  input: PsbtInput,
  outputKey: Uint8Array,
  context: InputContext,
): Steps<FinalInput> {
  const { place, checks } = context;
  const signatures = distinct(input.tapKeySignatures);
  const judge = (signature: Uint8Array): Judged => checks.taproot(place, outputKey, signature, null);
  const byKeyPath = yield* firstSigned(signatures, judge, input.sighashType, place);
  if (byKeyPath !== null)
    return finalInput({ scriptSig: noScript, witness: [byKeyPath.signature] }, [byKeyPath.judged]);
  const byLeaf = yield* finalizeLeaf(input, outputKey, context);
  if (byLeaf !== null) return byLeaf;
  throw signatures.length > 0 ? wrongSignature(context) : notSigned(context);
}

/** Spends by the signed script with the shortest path. Returns null if no script is signed. Throws `PsbtFaults`. */
function* finalizeLeaf(
  input: PsbtInput,
  outputKey: Uint8Array,
  context: InputContext,
): Steps<FinalInput | null> {
  if (input.tapLeafSignatures.length === 0) return null;
  const { place, owner, checks } = context;
  const signatures = signaturesByLeaf(input);
  let fault = `Input ${place}: the script that ${owner} signed is missing.`;
  for (const leaf of input.tapLeaves.toSorted(byPath)) {
    const leafHash = leafHashOf(leaf);
    yield leaf.script.length;
    const signed = signatures.get(textOf(leafHash));
    if (signed === undefined) continue;
    if (!checks.isCommitted(leaf, leafHash, outputKey))
      throw psbtFault(`Input ${place}: a script in its PSBT does not belong to ${owner}.`);
    yield checkSteps;
    const done = yield* leafInput({ leaf, signed, leafHash, input }, context);
    if (typeof done !== 'string') return done;
    fault = done;
  }
  throw psbtFault(fault);
}

/**
 * Spends by one script. Returns a reason if a signature is missing, or if the script has an unknown form. Throws
 * `PsbtFaults`.
 */
function* leafInput(signed: SignedLeaf, context: InputContext): Steps<FinalInput | string> {
  const { leaf } = signed;
  const { place, owner } = context;
  const template = leaf.version === tapscriptVersion ? leafKeys(leaf.script) : null;
  if (template === null)
    return `Input ${place}: this server does not know how to spend its script of ${owner}. Finalize the input with the wallet of its owner.`;
  const { required, keys, isSingle } = template;
  const found = new Map<Uint8Array, Signed>();
  const given = byKey(signed.signed);
  yield signed.signed.length * hashSteps;
  for (const key of keys) {
    const one =
      found.size === required
        ? null
        : yield* leafSignature(key, given.get(textOf(key)) ?? [], signed, context);
    if (one !== null) found.set(key, one);
  }
  if (found.size < required) {
    const missing = keys.filter((key) => !found.has(key));
    return tooFewSignatures(context, { found: found.size, required, missing }).message;
  }
  // OP_CHECKSIGADD needs an empty item for a key that did not sign
  const items = keys.flatMap((key) => found.get(key)?.signature ?? (isSingle ? [] : [noScript]));
  // the script uses the last item first
  const witness = [...items.toReversed(), leaf.script, leaf.controlBlock];
  return finalInput(
    { scriptSig: noScript, witness },
    [...found.values()].map(({ judged }) => judged),
  );
}

const byPath = (one: TapLeaf, other: TapLeaf): number =>
  one.controlBlock.length - other.controlBlock.length || one.script.length - other.script.length;

type Signatures = readonly { readonly publicKey: Uint8Array; readonly signature: Uint8Array }[];

const signaturesByLeaf = ({ tapLeafSignatures }: PsbtInput): ReadonlyMap<string, Signatures> =>
  Map.groupBy(tapLeafSignatures, ({ leafHash }) => textOf(leafHash));

interface SignedLeaf {
  readonly leaf: TapLeaf;
  readonly signed: Signatures;
  readonly leafHash: Uint8Array;
  readonly input: PsbtInput;
}

/** Finds the signature of a key for a script. Returns and throws like `signedByKey`. */
const leafSignature = (
  key: Uint8Array,
  own: Signatures,
  { leafHash, input }: SignedLeaf,
  context: InputContext,
): Steps<Signed | null> => {
  const judge = (signature: Uint8Array): Judged =>
    context.checks.taproot(context.place, key, signature, leafHash);
  return signedByKey(own, judge, input.sighashType, context);
};
