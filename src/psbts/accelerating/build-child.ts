import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { TypeRules } from '#inventory/type-rules.ts';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { parseTxid } from '#kernel/primitives/hash.ts';
import { hasSpecial } from '#kernel/satributes/has-special.ts';
import { type BuiltPsbt, buildPsbt } from '#psbts/bytes/build-psbt.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { freeCoins } from '#psbts/coins/free-coins.ts';
import { feeRateFor, nodeFeesOf } from '#psbts/coins/node-fees.ts';
import { payingCoins } from '#psbts/coins/paying-coins.ts';
import { feeMost, shownFeeRate } from '#psbts/planning/fee-rate.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import { type Target, targetAt, targetsOfOrder } from './find-targets.ts';
import { packageDeficit } from './package-deficit.ts';
import { packageRoom, whyNoRoom } from './package-room.ts';
import { type Child, childFrame, planChild, trucChildMax } from './plan-child.ts';
import { confirmedMax, proveUnconfirmed } from './prove-unconfirmed.ts';

/** A child transaction that a request asks for. */
export interface WantedChild {
  readonly kind: 'child';
  readonly payment: Signer;
  /** The unconfirmed output to spend, or the order whose transactions are searched for such an output. */
  readonly of:
    | { readonly kind: 'utxo'; readonly utxo: Outpoint }
    | { readonly kind: 'order'; readonly id: string };
  /** Fee rate in sats per 1,000 virtual bytes. Null means the node's estimate. */
  readonly feeRate: bigint | null;
}

/** An output that is proven to hold only sats, and the child that spends the output. */
interface FreeChild {
  readonly kind: 'free';
  readonly target: Target;
  readonly child: Child;
  readonly unproven: readonly string[];
}

/**
 * Builds a child that spends an unconfirmed output of the customer. The child's fee raises the fee rate of the output's
 * package (CPFP). Confirmed coins pay the part of the fee that the output cannot pay. Throws `not_found`,
 * `coins_unproven`, and the codes of UtxoReader and NodeRpc.
 */
export async function buildChild(
  parts: CoinParts,
  { payment, of, feeRate: given }: WantedChild,
  asker: Asker,
): Promise<BuiltPsbt | PsbtRefusal> {
  const feeRate = feeRateFor(given, await nodeFeesOf(parts.node).standing());
  if (typeof feeRate !== 'bigint') return feeRate;
  const found =
    of.kind === 'utxo'
      ? await targetAt(parts, payment, of.utxo)
      : await targetsOfOrder(parts, payment, of.id);
  if (found.kind === 'refused') return found;
  const [first, ...others] = found.targets;
  let free = await freeChild(parts, payment, first, feeRate, asker);
  for (const target of others) {
    if (free.kind === 'free') break;
    const next = await freeChild(parts, payment, target, feeRate, asker);
    // if no target is free, the response shows the reason for the first target, which is the best
    if (next.kind === 'free') free = next;
  }
  return free.kind === 'free' ? fundedChild(parts, free, asker) : free;
}

/**
 * Checks an output, and prepares the child that spends it. Refuses if the output may hold something other than sats, or
 * if no child can raise the fee rate of the output's package.
 */
async function freeChild(
  parts: CoinParts,
  payment: Signer,
  target: Target,
  feeRate: bigint,
  asker: Asker,
): Promise<FreeChild | PsbtRefusal> {
  const { name, vout, value, found } = target;
  const deficit = packageDeficit(found.transactions, feeRate);
  if (deficit === 0n)
    return refusedPsbt(
      `Output ${name}: its transaction and all ancestors of this transaction already pay ${shownFeeRate(feeRate)} sat/vB. Use a higher feeRate to raise this.`,
      'feeRate',
    );
  const version = versionFor(target);
  if (typeof version !== 'number') return version;
  const proof = await whyNotFree(parts, target, asker);
  if (!Array.isArray(proof)) return proof;
  const txid = parseTxid(found.last.txid);
  if (txid === null)
    throw new AppError('node_answer_invalid', 'The node returned a transaction without an id.');
  const spent = { txid, vout, value: BigInt(value), signer: payment, blockHash: null };
  return { kind: 'free', target, child: { target: spent, version, feeRate, deficit }, unproven: proof };
}

const noSatIndex =
  'Special sats were not looked for in the unconfirmed output, because this server has no index of sats.';

/**
 * Checks that an output holds only sats. Returns sentences about kinds of contents that were not searched for. Refuses
 * if the output may hold something else.
 */
async function whyNotFree(
  parts: CoinParts,
  { name, found }: Target,
  asker: Asker,
): Promise<string[] | PsbtRefusal> {
  const refuse = (words: string): PsbtRefusal => refusedPsbt(`Output ${name} ${words}`, 'utxo');
  const proven = await proveUnconfirmed(parts, found, asker);
  if (proven.kind === 'too-many')
    return refuse(
      `comes from more than ${confirmedMax} outputs, so this server cannot prove that it holds nothing. Wait until its transaction is in a block.`,
    );
  const contents = proven.contents.get(name);
  if (contents === undefined || contents.inscriptions.length > 0) return refuse('holds an inscription.');
  const { runes, ranges } = contents;
  if (runes === null)
    return refuse(
      'may hold runes, because one of the transactions that it comes from etches or mints runes. Wait until its transaction is in a block.',
    );
  if (runes.length > 0) return refuse('holds runes.');
  if (ranges === null) return [noSatIndex];
  const isSpecial = await hasSpecial(ranges, new TypeRules(parts.satributes).satributes);
  return isSpecial ? refuse('holds special sats.') : [];
}

/** Transaction version 3, which has special rules for relay (BIP 431). */
const trucVersion = 3;

function versionFor({ name, found: { last, transactions } }: Target): Child['version'] | PsbtRefusal {
  if (last.version !== trucVersion) return 2;
  if (transactions.length === 1 && last.descendants.count === 1) return trucVersion;
  return refusedPsbt(
    `Output ${name} has version 3, which allows only one unconfirmed parent with one child (BIP 431), but there are already more.`,
    'utxo',
  );
}

async function fundedChild(
  parts: CoinParts,
  { target: { name, found }, child, unproven }: FreeChild,
  asker: Asker,
): Promise<BuiltPsbt | PsbtRefusal> {
  // the output may be in a block by now
  const coins = await freeCoins(parts, child.target.signer, asker, [child.target]);
  const chosen = payingCoins(await coins.supply.choose(childFrame(child)));
  if (chosen.kind === 'refused') return chosen;
  const plan = planChild(child, chosen.coins, chosen.change);
  if (plan === null)
    return refusedPsbt(
      `Output ${name} has version 3, and a child of version 3 has at most ${trucChildMax} virtual bytes (BIP 431). Pay with fewer coins.`,
    );
  const most = feeMost(plan.weight);
  if (plan.fee > most)
    return refusedPsbt(
      `feeRate is too high: for this rate, the child of ${virtualSize(plan.weight)} virtual bytes would pay ${plan.fee} sats, but nodes accept at most ${most} sats. Use a lower feeRate.`,
      'feeRate',
    );
  const { cluster } = await nodeFeesOf(parts.node).standing();
  const noRoom = whyNoRoom(await packageRoom(parts.node, found, cluster), virtualSize(plan.weight));
  if (noRoom !== null) return refusedPsbt(`Output ${name}: ${noRoom}`);
  return buildPsbt(parts.node, plan, {
    feeRate: child.feeRate,
    warnings: [],
    unproven: [...new Set([...unproven, ...coins.unproven])],
  });
}
