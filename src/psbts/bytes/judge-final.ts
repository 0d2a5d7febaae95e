import { hash160 } from '@scure/btc-signer/utils.js';
import { scriptType } from '#kernel/bitcoin/script-type.ts';
import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import type { Judged } from './check-signatures.ts';
import { checkSteps, type InputContext, workOf } from './final-input.ts';
import type { FinalScripts, PsbtInput, SpentOutput } from './psbt.ts';
import { type KeysScript, leafKeys, pushesOf } from './script-template.ts';
import { type EcdsaSpend, spendOf } from './spend.ts';
import { leafHashOf, tapscriptVersion } from './tap-leaf.ts';

/** The result for a signature that can never be right. */
const wrong: Judged = { verdict: 'wrong', type: 0 };

/**
 * Checks the signatures of an input that a wallet has finalized. Returns null if the spent output is unknown, or if the
 * output is spent in an unknown way. Throws `PsbtFaults` if the scripts belong to another output.
 */
export function* judgeFinal(
  { spent }: PsbtInput,
  final: FinalScripts,
  context: InputContext,
): Steps<readonly Judged[] | null> {
  if (spent === null) return null;
  const shown = shownScripts(spent, final);
  if (shown === null) return null;
  const spend = spendOf(spent, shown, context.place);
  if (spend.kind === 'taproot') return yield* judgeTaproot(final, spend.outputKey, context);
  if (spend.kind === 'other') return null;
  return yield* judgeItems(shown.items, spend, { ...context, value: spent.value });
}

interface ShownScripts {
  readonly items: readonly Uint8Array[];
  readonly redeemScript: Uint8Array | null;
  readonly witnessScript: Uint8Array | null;
}

/**
 * Reads the scripts in final fields, and the items before the scripts. Returns null if the fields have an unknown form.
 */
function shownScripts({ script }: SpentOutput, { scriptSig, witness }: FinalScripts): ShownScripts | null {
  const pushed = pushesOf(scriptSig);
  if (pushed === null) return null;
  const isNested = scriptType(script) === 'p2sh';
  const redeemScript = isNested ? (pushed.at(-1) ?? null) : null;
  const program = scriptType(redeemScript ?? script);
  if (program === 'p2wsh')
    return { items: witness.slice(0, -1), redeemScript, witnessScript: witness.at(-1) ?? null };
  const isWitness = program === 'p2wpkh' || program === 'p2tr';
  const items = isWitness ? witness : isNested ? pushed.slice(0, -1) : pushed;
  return { items, redeemScript, witnessScript: null };
}

type EcdsaContext = InputContext & { readonly value: bigint };

function* judgeItems(
  items: readonly Uint8Array[],
  { wanted, scheme, code }: EcdsaSpend,
  context: EcdsaContext,
): Steps<readonly Judged[]> {
  const { place, checks, value } = context;
  const judge = (key: Uint8Array, signature: Uint8Array): Judged =>
    checks.ecdsa(place, key, signature, { scheme, code, value });
  if (wanted.kind === 'keys') return yield* judgeKeys(items, wanted, judge);
  const [signature, publicKey] = items;
  if (signature === undefined || publicKey === undefined || items.length !== 2) return [wrong];
  if (Buffer.compare(hash160(publicKey), wanted.hash) !== 0) return [wrong];
  const judged = judge(publicKey, signature);
  yield workOf(judged);
  return [judged];
}

/** Checks signatures like OP_CHECKMULTISIG, which requires the signatures to be in the order of their keys. */
function* judgeKeys(
  items: readonly Uint8Array[],
  { required, keys, isSingle }: KeysScript,
  judge: (key: Uint8Array, signature: Uint8Array) => Judged,
): Steps<readonly Judged[]> {
  const signatures = isSingle ? items : items.slice(1);
  const isShaped = signatures.length === required && (isSingle || items[0]?.length === 0);
  if (!isShaped) return [wrong];
  const judged: Judged[] = [];
  for (const key of keys) {
    const signature = signatures[judged.length];
    if (signature === undefined) break;
    const one = judge(key, signature);
    yield workOf(one);
    if (one.verdict !== 'wrong') judged.push(one);
  }
  return judged.length === required ? judged : [wrong];
}

/** The byte with which an annex begins (BIP 341). */
const annexTag = 0x50;

function* judgeTaproot(
  { witness }: FinalScripts,
  outputKey: Uint8Array,
  context: InputContext,
): Steps<readonly Judged[] | null> {
  const [signature] = witness;
  if (signature === undefined) return [wrong];
  // nodes do not relay transactions with an annex, so no wallet makes them
  if (witness.length > 1 && witness.at(-1)?.[0] === annexTag) return null;
  if (witness.length > 1) return yield* judgeLeaf(witness, outputKey, context);
  const judged = context.checks.taproot(context.place, outputKey, signature, null);
  yield workOf(judged);
  return [judged];
}

function* judgeLeaf(
  witness: readonly Uint8Array[],
  outputKey: Uint8Array,
  { place, checks }: InputContext,
): Steps<readonly Judged[] | null> {
  const [script = noBytes, controlBlock = noBytes] = witness.slice(-2);
  const version = (controlBlock[0] ?? 0) & 0xfe;
  const leafHash = leafHashOf({ script, version });
  if (!checks.isCommitted({ controlBlock, script, version }, leafHash, outputKey)) return [wrong];
  yield checkSteps;
  const template = version === tapscriptVersion ? leafKeys(script) : null;
  const items = witness.slice(0, -2).toReversed();
  if (template === null || items.length !== template.keys.length) return null;
  const judged: Judged[] = [];
  for (const [index, key] of template.keys.entries()) {
    const item = items[index] ?? noBytes;
    if (item.length === 0) continue;
    const one = checks.taproot(place, key, item, leafHash);
    judged.push(one);
    yield workOf(one);
  }
  return judged.length === template.required ? judged : [wrong];
}

const noBytes = new Uint8Array();
