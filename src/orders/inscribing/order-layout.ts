import assert from 'node:assert/strict';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight } from '#kernel/bitcoin/plan-weight.ts';
import { frameWeight, standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import { checkTerms } from './check-terms.ts';
import { postageCount } from './etching-parts.ts';
import { groupFiles, type LeafGroup } from './group-files.ts';
import { mintParts } from './mint-parts.ts';
import { type MintTerms, type OrderRefusal, type OrderTerms, orderBounds, refused } from './order-terms.ts';
import {
  largest,
  type OwnOutput,
  ownOutputFor,
  p2trDust,
  p2trOutputWeight,
  weightWith,
} from './plan-amounts.ts';
import { burnParts, revealParts, revealWeight } from './reveal-parts.ts';
import {
  type FileGroup,
  isSpendable,
  postageOutputCount,
  revealsPostageFirst,
  type SettledTerms,
  settleTerms,
} from './settled-terms.ts';

/** A reveal as planned for the quote. */
export interface RevealLayout extends FileGroup {
  readonly leafBytes: number;
  readonly weight: number;
  readonly fee: bigint;
  /** Our output of the reveal. If there is a `burn`, our output of the transaction that burns. */
  readonly own: OwnOutput;
  readonly burn: { readonly weight: number; readonly fee: bigint } | null;
  /** Value of the output that the reveal spends by leaf. */
  readonly committed: bigint;
  /**
   * Value of a second input, spent by key. This input exists only if the first input must belong to the inscription and
   * hold exactly its postage; null otherwise.
   */
  readonly feeInput: bigint | null;
}

/** The transactions of an order, with all their costs. */
export interface OrderLayout {
  readonly kind: 'layout';
  /**
   * `direct`: a single reveal spends the payment directly. `wallet`: a commit of the wallet spends the payment, and
   * reveals spend the commit.
   */
  readonly paidTo: 'direct' | 'wallet';
  readonly postage: bigint;
  readonly reveals: readonly RevealLayout[];
  readonly commit: { readonly weight: number; readonly fee: bigint } | null;
  /** Fees of all transactions. */
  readonly minerFee: bigint;
  /** The chain's part of the price: `minerFee`, and the sats that our outputs need beyond our shares. */
  readonly chainFee: bigint;
  readonly sizeFees: SizeFees;
}

/** The size fee of an order. */
export interface SizeFees {
  /** The least possible size fee. The kinds of our outputs are chosen by this fee. */
  readonly least: bigint;
  /** The whole size fee. The first reveal gets the difference to `least`. */
  readonly all: bigint;
}

/** Our part of a payment, beyond fees and postage. */
export interface Revenue {
  /** Revenue without the size fee. */
  readonly amount: bigint;
  /**
   * A percentage of the chain fee, rounded down, or the size fees of the quote. Later plans use the quote's fees,
   * because a percentage of the later price would divide the sats differently and choose other outputs.
   */
  readonly size: { readonly percent: number } | SizeFees;
}

/**
 * Plans the transactions of an order before there is a payment. Their exact weights do not depend on keys, and depend
 * only on the lengths of the contents. Deterministic, so later plans for the same terms have the same layout. The cost
 * is linear in the number of files.
 */
export function layoutOrder(terms: OrderTerms, revenue: Revenue): OrderLayout | OrderRefusal {
  const fault = checkTerms(terms);
  if (fault !== null) return fault;
  const settled = settleTerms(terms);
  assert(
    settled.inventory === null || settled.inventory.length === settled.files.length,
    'each file has a sat of the inventory, or none has',
  );
  assert(
    settled.inventory === null || settled.inventory.every((sat) => isSpendable(sat, settled.postage)),
    'sats of the inventory are left as outputs',
  );
  const groups = groupFiles(settled);
  if (!Array.isArray(groups)) return groups;
  const isMined = groups.some((group) => isMinedDirectly(settled, group));
  const parted = partedFault(settled, groups, isMined);
  if (parted !== null) return parted;
  // an order with a reveal for a miner is paid to the wallet, because only the reveal could spend a direct payment; the
  // payment would be lost if no miner took the reveal
  const isDirect = terms.type === 'direct' && groups.length === 1 && !revealsPostageFirst(terms) && !isMined;
  return priced(settled, revenue, groups, isDirect ? 'direct' : 'wallet');
}

/** Whether a group's reveal is too heavy for nodes to relay, so that a miner must take it directly. */
const isMinedDirectly = (terms: SettledTerms, group: LeafGroup): boolean =>
  revealWeight(terms, group, group.leafBytes) > standardWeightMax;

/**
 * Fault of an order with a file for a miner and other files. If no miner takes the file's reveal, the whole order is
 * refunded from its commit. With other files, only a part of the order might be delivered.
 */
function minedAlone(terms: SettledTerms, groups: readonly LeafGroup[]): OrderRefusal {
  const file = groups.find((group) => isMinedDirectly(terms, group))?.first ?? 0;
  const reason = `File ${file + 1} makes a transaction above ${standardWeightMax} weight units, which only a miner can accept directly. Order this file alone.`;
  return refused('non-standard-alone', reason, { file });
}

/**
 * Fault of an etching with several reveals, or of an order with a file for a miner and other files. Null if there is no
 * such fault.
 */
function partedFault(
  terms: SettledTerms,
  groups: readonly LeafGroup[],
  isMined: boolean,
): OrderRefusal | null {
  if (terms.etching !== null && groups.length > 1) return etchingParted(groups);
  return isMined && terms.files.length > 1 ? minedAlone(terms, groups) : null;
}

/**
 * Fault of an etching with several reveals. The reveals would be sent at different times, so they could not be refunded
 * together.
 */
function etchingParted([first]: readonly LeafGroup[]): OrderRefusal {
  const reason = `The files of an etching are in its one transaction, which has space for only the first ${first?.count ?? 0} files. Order the other files in another order.`;
  return refused('etching-files', reason);
}

function priced(
  terms: SettledTerms,
  revenue: Revenue,
  groups: readonly LeafGroup[],
  paidTo: OrderLayout['paidTo'],
): OrderLayout | OrderRefusal {
  const commit = paidTo === 'wallet' ? commitOf(terms, groups.length) : null;
  if (commit !== null && commit.weight > standardWeightMax) return tooManyReveals(groups.length);
  const minerFeeOf = (reveals: readonly RevealLayout[]): bigint =>
    reveals.reduce((sum, { fee, burn }) => sum + fee + (burn?.fee ?? 0n), commit?.fee ?? 0n);

  // the kinds of our outputs are chosen by the least possible size fee; the first reveal gets the rest of the size fee
  const { amount, size } = revenue;
  const least =
    'percent' in size
      ? percentOf(minerFeeOf(groups.map((group) => revealOf(terms, group, 0n, paidTo))), size.percent)
      : size.least;
  const shares = sharesOf(terms, groups, amountOf(terms, amount), least);
  const reveals = groups.map((group, index) => revealOf(terms, group, shares[index] ?? 0n, paidTo));
  const lacking = reveals.reduce((sum, { own }, index) => sum + own.value - (shares[index] ?? 0n), 0n);
  const minerFee = minerFeeOf(reveals);
  const chainFee = minerFee + lacking;
  const all = 'percent' in size ? percentOf(chainFee, size.percent) : size.all;
  return {
    kind: 'layout',
    paidTo,
    postage: terms.postage,
    reveals: withMore(reveals, all - least),
    commit,
    minerFee,
    chainFee,
    sizeFees: { least, all },
  };
}

const percentOf = (amount: bigint, percent: number): bigint => (amount * BigInt(percent)) / 100n;

/** Our share in each reveal, in proportion to its number of files. The first reveal gets the remainder. */
function sharesOf(
  { files, mint }: OrderTerms,
  groups: readonly FileGroup[],
  amount: bigint,
  sizeFee: bigint,
): bigint[] {
  const items = mint?.count ?? files.length;
  if (items === 0) return [amount + sizeFee];
  const itemsOf = ({ count }: FileGroup): number => (mint === null ? count : 1);
  const shares = groups.map((group) => (amount * BigInt(itemsOf(group))) / BigInt(items));
  const given = shares.reduce((sum, share) => sum + share, 0n);
  return shares.map((share, index) => (index === 0 ? share + amount - given + sizeFee : share));
}

/** Sats of our outputs. They include the customer's postage if inventory sats are the postage of the inscriptions. */
const amountOf = ({ inventory, postage, files }: SettledTerms, amount: bigint): bigint =>
  inventory === null ? amount : amount + postage * BigInt(files.length);

function revealOf(
  terms: SettledTerms,
  group: LeafGroup,
  share: bigint,
  paidTo: OrderLayout['paidTo'],
): RevealLayout {
  if (terms.mint !== null) return mintOf(terms, terms.mint, group, share);
  const parts = revealParts(terms, group, group.leafBytes);
  // if the postage comes from the inventory, the customer's postage is in our output instead
  const postage = terms.inventory === null ? terms.postage * BigInt(postagesOf(terms, group)) : 0n;
  const isApart = revealsPostageFirst(terms);
  if (!terms.burn) {
    // without postage, the commit's output pays only for our output and the fee, so it could be dust
    const isFeeAlone = isApart || (postage === 0n && paidTo === 'wallet');
    const own = ownOutputFor(parts, terms.feeRate, share, isFeeAlone ? p2trDust : 0n);
    return laidOut({ ...group, weight: own.weight, fee: own.fee, own, burn: null }, postage, isApart);
  }
  const weight = weightWith(parts, p2trOutputWeight);
  const anchors = postageOutputCount(terms, group);
  // our output of the reveal pays for the burn, so this output must not be dust
  const own = ownOutputFor(burnParts(anchors), terms.feeRate, share, p2trDust);
  const burn = { weight: own.weight, fee: own.fee };
  return laidOut({ ...group, weight, fee: feeOf(weight, terms.feeRate), own, burn }, postage, isApart);
}

/**
 * The layout of one mint. Our output of the mint shows in which block the mint is, so the output must exist. The
 * customer pays for the output if our share is too small.
 */
function mintOf(terms: SettledTerms, mint: MintTerms, group: LeafGroup, share: bigint): RevealLayout {
  const own = ownOutputFor(mintParts(terms, mint), terms.feeRate, largest(share, p2trDust));
  return laidOut({ ...group, weight: own.weight, fee: own.fee, own, burn: null }, terms.postage, false);
}

/** Number of postages in a reveal. The postage of a premine is in the only reveal of its etching. */
const postagesOf = (terms: SettledTerms, { count }: FileGroup): number =>
  terms.etching === null ? count : postageCount(terms);

function laidOut(
  reveal: Omit<RevealLayout, 'committed' | 'feeInput'>,
  postage: bigint,
  isApart: boolean,
): RevealLayout {
  const costs = reveal.fee + reveal.own.value + (reveal.burn?.fee ?? 0n);
  return isApart
    ? { ...reveal, committed: postage, feeInput: costs }
    : { ...reveal, committed: postage + costs, feeInput: null };
}

/** Returns the reveals, with `more` additional sats in our output of the first reveal. */
function withMore([first, ...others]: readonly RevealLayout[], more: bigint): readonly RevealLayout[] {
  if (first === undefined) return [];
  const own = { ...first.own, value: first.own.value + more };
  const { committed, feeInput } = first;
  const moved =
    feeInput === null ? { committed: committed + more, feeInput } : { committed, feeInput: feeInput + more };
  return [{ ...first, own, ...moved }, ...others];
}

/** A commit with one payment as input, and the outputs that the reveals spend. */
function commitOf(terms: OrderTerms, reveals: number): { weight: number; fee: bigint } {
  const outputs = reveals * (revealsPostageFirst(terms) ? 2 : 1);
  const weight = frameWeight(1, outputs) + keyInputWeight + outputs * p2trOutputWeight;
  return { weight, fee: feeOf(weight, terms.feeRate) };
}

function tooManyReveals(reveals: number): OrderRefusal {
  return refused(
    'commit-too-large',
    `The order needs ${reveals} reveal transactions, more than one commit transaction can pay for. Split it into several orders with at most ${orderBounds.files} files each.`,
  );
}
