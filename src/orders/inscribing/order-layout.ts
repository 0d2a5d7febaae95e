import assert from 'node:assert/strict';
import { anchorInputWeight, keyInputWeight, leafInputWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf, frameWeight, outputWeight, standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import { checkTerms } from './check-terms.ts';
import {
  type FileTerms,
  type InventoryTerms,
  type OrderRefusal,
  type OrderTerms,
  orderBounds,
  refused,
} from './order-terms.ts';
import {
  anchorScript,
  burnScript,
  feeOf,
  largest,
  type OwnOutput,
  ownOutputFor,
  type Parts,
  p2trDust,
  p2trOutputWeight,
  valueOf,
  weightWith,
} from './plan-amounts.ts';
import {
  type EnvelopeLengths,
  envelopeBytes,
  idField,
  pointerField,
  revealScriptBytes,
} from './reveal-script.ts';

/**
 * A reveal with several files is not planned heavier than this: payments in parts add inputs to it later, and nodes
 * relay 400,000. With its burn: nodes take both together, with room for what pays for them, up to 404,000.
 */
const sharedRevealWeightMax = 390_000;
/** A reveal that a miner takes directly must fit into a block, beside its header and coinbase. */
const minedWeightMax = 3_900_000;

/** The files of one reveal: `count` of the order's, from `first` on. */
export interface FileGroup {
  readonly first: number;
  readonly count: number;
}

/** A reveal as it was quoted. */
export interface RevealLayout extends FileGroup {
  readonly leafBytes: number;
  readonly weight: number;
  readonly fee: bigint;
  /** Our output of it; with `burn`, of the transaction that burns. */
  readonly own: OwnOutput;
  readonly burn: { readonly weight: number; readonly fee: bigint } | null;
  /** The value of the output that it spends through its leaf. */
  readonly committed: bigint;
  /** The value of a second one, spent by key: where the inscription must be on the first of exactly its postage. */
  readonly feeInput: bigint | null;
}

/** The transactions of an order, with all that they cost. */
export interface OrderLayout {
  readonly kind: 'layout';
  /** `direct`: one reveal, which spends what is paid to its address. `wallet`: a commit of the wallet, then reveals. */
  readonly paidTo: 'direct' | 'wallet';
  readonly postage: bigint;
  readonly reveals: readonly RevealLayout[];
  readonly commit: { readonly weight: number; readonly fee: bigint } | null;
  /** Fees of all transactions. */
  readonly minerFee: bigint;
  /** `minerFee`, and what our outputs need beyond the shares: the part of the price that the chain takes. */
  readonly chainFee: bigint;
  readonly sizeFees: SizeFees;
}

/** The size fee of an order. */
export interface SizeFees {
  /** The least that there can be: our outputs are chosen by it. */
  readonly least: bigint;
  /** The whole: the part that their choice adds is the first reveal's. */
  readonly all: bigint;
}

/** What is ours of a payment, beyond the fees and postage. */
export interface Revenue {
  /** Without the size fee. */
  readonly amount: bigint;
  /**
   * The percentage of the chain fee, rounded down; or the fees that an order was quoted with: a percentage of what is left
   * of its price would share them out otherwise, and choose other outputs.
   */
  readonly size: { readonly percent: number } | SizeFees;
}

/**
 * Plans the transactions of an order, before there is a payment: their exact weights need no keys, and contents only
 * by their lengths. Deterministic: later plans for the same terms follow the same layout. Cost: linear in the files.
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
  if (isMined && terms.files.length > 1) return minedAlone(settled, groups);
  // money that only such a reveal can spend would be lost if no miner takes it
  const isDirect = terms.type === 'direct' && groups.length === 1 && !revealsPostageFirst(terms) && !isMined;
  return priced(settled, revenue, groups, isDirect ? 'direct' : 'wallet');
}

/** Whether nodes may not relay the reveal of a group, so that a miner takes it directly. */
const isMinedDirectly = (terms: SettledTerms, group: LeafGroup): boolean =>
  revealWeight(terms, group, group.leafBytes) > standardWeightMax;

/**
 * A reveal that no miner takes is refunded out of its commit. With other files, a part of the order could be
 * delivered and the rest not.
 */
function minedAlone(terms: SettledTerms, groups: readonly LeafGroup[]): OrderRefusal {
  const file = groups.find((group) => isMinedDirectly(terms, group))?.first ?? 0;
  const reason = `File ${file + 1} makes a transaction above ${standardWeightMax} weight units, which a miner must take directly: order it alone.`;
  return refused('non-standard-alone', reason, { file });
}

/** Terms with what each of their files asks for. */
export interface SettledTerms extends OrderTerms {
  /** What the terms say, or the least for all receivers. */
  readonly postage: bigint;
  readonly parentsValue: bigint;
  /** The lengths of the parents' ids as fields. */
  readonly parentLengths: readonly number[];
}

export function settleTerms(terms: OrderTerms): SettledTerms {
  return {
    ...terms,
    postage: postageOf(terms),
    parentsValue: valueOf(terms.parents),
    parentLengths: terms.parents.map(({ id }) => idField(id).length),
  };
}

/**
 * Whether reveals spend the inscription's own output first, then parents and what pays the fee. An envelope is only
 * uncursed in the first input; elsewhere parents come first, so that they return whatever the payment is.
 */
export function revealsPostageFirst({ uncurse, parents }: Pick<OrderTerms, 'uncurse' | 'parents'>): boolean {
  return uncurse && parents.length > 0;
}

/** The sats of each inscription's output. */
export function postageOf(
  terms: Pick<OrderTerms, 'postage' | 'burn' | 'receivers' | 'uncurse' | 'parents'>,
): bigint {
  if (terms.postage !== 'least') return terms.postage;
  const dusts = outputScripts(terms).map((script) => BigInt(dustOf(script)));
  // the commit has an output of exactly the postage
  return largest(...dusts, revealsPostageFirst(terms) ? p2trDust : 0n);
}

/** The scripts that inscriptions go to: one for all files, or one a file. */
export function outputScripts({
  burn,
  receivers,
}: Pick<OrderTerms, 'burn' | 'receivers'>): readonly Uint8Array[] {
  return burn ? [anchorScript] : receivers;
}

/** The outputs that hold the inscriptions of a reveal. */
export function postageOutputs(
  terms: SettledTerms,
  { first, count }: FileGroup,
): { script: Uint8Array; value: bigint }[] {
  const scripts = outputScripts(terms);
  const { postage } = terms;
  const [shared = anchorScript] = scripts;
  if (terms.batchMode === 'shared-output') return [{ script: shared, value: postage * BigInt(count) }];
  return Array.from({ length: count }, (_, place) => ({
    script: scripts.length === 1 ? shared : (scripts[first + place] ?? shared),
    value: postage,
  }));
}

/** Whether what lies before a sat of the inventory, and behind its postage, can be outputs, or is nothing. */
export const isSpendable = ({ value, place }: InventoryTerms, postage: bigint): boolean =>
  [place, value - place - postage].every((sats) => sats === 0n || sats >= p2trDust);

/** The sat of the inventory that a reveal inscribes: it has one file then. Null: it inscribes sats of the payments. */
export function inventoryOf(
  { inventory }: Pick<OrderTerms, 'inventory'>,
  { first }: Pick<FileGroup, 'first'>,
): InventoryTerms | null {
  if (inventory === null) return null;
  const sat = inventory[first];
  assert(sat !== undefined, `file ${first} has a sat of the inventory`);
  return sat;
}

/** Sats of its output of the inventory that a reveal leaves, before the inscription and after it; 0: nothing. */
export function leftOfInventory(
  terms: SettledTerms,
  group: Pick<FileGroup, 'first'>,
): readonly [before: bigint, after: bigint] {
  const sat = inventoryOf(terms, group);
  return sat === null ? [0n, 0n] : [sat.place, sat.value - sat.place - terms.postage];
}

/** The sat to which the inscription at a place of its reveal is moved; the first one lies there by itself. */
export function pointerOf(
  terms: SettledTerms,
  group: Pick<FileGroup, 'first'>,
  place: number,
): bigint | null {
  // the envelope is in the second input
  const sat = inventoryOf(terms, group);
  if (sat !== null) return sat.place;
  return place === 0 ? null : terms.parentsValue + BigInt(place) * terms.postage;
}

function envelopeLengths(
  terms: SettledTerms,
  group: Pick<FileGroup, 'first'>,
  file: FileTerms,
  place: number,
): EnvelopeLengths {
  const pointer = pointerOf(terms, group, place);
  return {
    contentType: textBytes(file.contentType),
    body: bytesOf(file.body),
    contentEncoding: textBytes(file.contentEncoding),
    metaprotocol: textBytes(file.metaprotocol),
    metadata: bytesOf(file.metadata),
    delegate: file.delegate === null ? null : idField(file.delegate).length,
    parents: terms.parentLengths,
    pointer: pointer === null ? null : pointerField(pointer).length,
  };
}

const textBytes = (text: string | null): number | null => (text === null ? null : Buffer.byteLength(text));
const bytesOf = (content: Uint8Array | number | null): number | null =>
  typeof content === 'number' || content === null ? content : content.length;

/** A group with the length of its leaf. */
type LeafGroup = FileGroup & Pick<RevealLayout, 'leafBytes'>;

/** Files one after the other, as many in each reveal as it may hold. */
function groupFiles(terms: SettledTerms): LeafGroup[] | OrderRefusal {
  const groups: LeafGroup[] = [];
  let first = 0;
  while (first < terms.files.length) {
    const group = groupFrom(terms, first);
    if ('kind' in group) return group;
    groups.push(group);
    first += group.count;
  }
  return groups;
}

function groupFrom(terms: SettledTerms, first: number): LeafGroup | OrderRefusal {
  // the first input has one envelope without a curse, or one sat of the inventory
  const isAlone = terms.uncurse || terms.inventory !== null;
  let count = 0;
  let leafBytes = revealScriptBytes([]);
  while (first + count < terms.files.length) {
    const file = terms.files[first + count];
    if (file === undefined || (isAlone && count > 0)) break;
    const bytes = leafBytes + envelopeBytes(envelopeLengths(terms, { first }, file, count));
    const weight = revealWeight(terms, { first, count: count + 1 }, bytes);
    if (count > 0 && weight + burnWeight(terms, count + 1) > sharedRevealWeightMax) break;
    // what no node relays is known before its burn is
    if (weight > revealWeightMax(terms)) return tooLarge(terms, first + count, weight);
    leafBytes = bytes;
    count++;
  }
  return { first, count, leafBytes };
}

/**
 * The most that the reveal of one file may weigh. A burn is sent together with its reveal, and the inventory waits for no
 * miner: both keep to what nodes relay.
 */
const revealWeightMax = ({ nonStandard, burn, inventory }: OrderTerms): number =>
  nonStandard && !burn && inventory === null ? minedWeightMax : standardWeightMax;

function tooLarge(terms: SettledTerms, file: number, weight: number): OrderRefusal {
  const max = revealWeightMax(terms);
  const why = terms.nonStandard
    ? 'a miner takes neither what is burned nor sats of the inventory directly'
    : 'this service has no other way to mine it';
  const bound =
    max === minedWeightMax ? `a block has room for ${max}` : `nodes relay ${max} at most, and ${why}`;
  const largest = largestContent(terms, file, max);
  const advice =
    largest === null
      ? 'Its metadata alone is too large.'
      : `The largest content that fits has ${largest} bytes.`;
  const reason = `File ${file + 1} makes a transaction of ${weight} weight units; ${bound}. ${advice}`;
  return refused('reveal-too-large', reason, { file });
}

/** Bytes of the largest content with which the reveal of a file, with all else as it is, is not too heavy; null: none is. */
function largestContent(terms: SettledTerms, index: number, max: number): number | null {
  const file = terms.files[index];
  if (file === undefined) return null;
  const fits = (body: number): boolean => {
    const bytes =
      revealScriptBytes([]) + envelopeBytes(envelopeLengths(terms, { first: index }, { ...file, body }, 0));
    return revealWeight(terms, { first: index, count: 1 }, bytes) <= max;
  };
  if (!fits(1)) return null;
  // a byte of content is a weight unit or more
  let [least, most] = [1, max];
  while (most - least > 1) {
    const middle = Math.floor((least + most) / 2);
    if (fits(middle)) least = middle;
    else most = middle;
  }
  return least;
}

/** The inputs and outputs of a reveal, without ours. */
function revealParts(terms: SettledTerms, group: FileGroup, leafBytes: number): Parts {
  const { parents } = terms;
  const keyInputs =
    parents.length + (revealsPostageFirst(terms) ? 1 : 0) + (terms.inventory === null ? 0 : 1);
  const left = leftOfInventory(terms, group).filter((sats) => sats > 0n).length;
  const returns = isLast(terms, group)
    ? parents.reduce((sum, { returnScript }) => sum + outputWeight(returnScript), 0)
    : parents.length * p2trOutputWeight;
  return {
    inputs: 1 + keyInputs,
    outputs: parents.length + left + postageOutputCount(terms, group),
    weight:
      leafInputWeight(leafBytes) +
      keyInputs * keyInputWeight +
      returns +
      left * p2trOutputWeight +
      postageWeight(terms, group),
  };
}

/** Parents return with the last reveal; until then each goes back to its deposit. */
export const isLast = ({ files }: OrderTerms, { first, count }: FileGroup): boolean =>
  first + count === files.length;

/** How many outputs hold the inscriptions of a reveal. */
export const postageOutputCount = ({ batchMode }: OrderTerms, { count }: FileGroup): number =>
  batchMode === 'shared-output' ? 1 : count;

/** Of the outputs of inscriptions: without objects, as groups are tried file by file. */
function postageWeight(terms: OrderTerms, group: FileGroup): number {
  const scripts = outputScripts(terms);
  const [shared = anchorScript] = scripts;
  const outputs = postageOutputCount(terms, group);
  if (scripts.length === 1) return outputs * outputWeight(shared);
  let weight = 0;
  for (let file = group.first; file < group.first + group.count; file++) {
    weight += outputWeight(scripts[file] ?? shared);
  }
  return weight;
}

/** As heavy as it can be: with an output of ours that is P2TR. */
const revealWeight = (terms: SettledTerms, group: FileGroup, leafBytes: number): number =>
  weightWith(revealParts(terms, group, leafBytes), p2trOutputWeight);

/** The inputs and outputs of the transaction that burns what a reveal gave to anchors, without our output. */
export function burnParts(anchors: number): Parts {
  return {
    inputs: anchors + 1,
    outputs: 1,
    weight: anchors * anchorInputWeight + keyInputWeight + outputWeight(burnScript),
  };
}

/** As heavy as it can be: of a reveal with so many files. */
function burnWeight(terms: OrderTerms, count: number): number {
  if (!terms.burn) return 0;
  return weightWith(burnParts(postageOutputCount(terms, { first: 0, count })), p2trOutputWeight);
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

  // our outputs are chosen by the least size fee that there can be; the rest of it is the first reveal's
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

/** What is ours, by the files of each reveal. What does not divide is the first one's. */
function sharesOf(
  { files }: OrderTerms,
  groups: readonly FileGroup[],
  amount: bigint,
  sizeFee: bigint,
): bigint[] {
  const shares = groups.map(({ count }) => (amount * BigInt(count)) / BigInt(files.length));
  const given = shares.reduce((sum, share) => sum + share, 0n);
  return shares.map((share, index) => (index === 0 ? share + amount - given + sizeFee : share));
}

/** Sats of our outputs: with the customer's postage where that of inscriptions comes from the inventory. */
const amountOf = ({ inventory, postage, files }: SettledTerms, amount: bigint): bigint =>
  inventory === null ? amount : amount + postage * BigInt(files.length);

function revealOf(
  terms: SettledTerms,
  group: LeafGroup,
  share: bigint,
  paidTo: OrderLayout['paidTo'],
): RevealLayout {
  const parts = revealParts(terms, group, group.leafBytes);
  // where the inventory brings it, the customer's lies in our output
  const postage = terms.inventory === null ? terms.postage * BigInt(group.count) : 0n;
  const isApart = revealsPostageFirst(terms);
  if (!terms.burn) {
    // all that a commit gives it is our output and its fee: without postage, that could be dust
    const isFeeAlone = isApart || (terms.inventory !== null && paidTo === 'wallet');
    const own = ownOutputFor(parts, terms.feeRate, share, isFeeAlone ? p2trDust : 0n);
    return laidOut({ ...group, weight: own.weight, fee: own.fee, own, burn: null }, postage, isApart);
  }
  const weight = weightWith(parts, p2trOutputWeight);
  const anchors = postageOutputCount(terms, group);
  // what burns is paid with our output of the reveal, which cannot be dust
  const own = ownOutputFor(burnParts(anchors), terms.feeRate, share, p2trDust);
  const burn = { weight: own.weight, fee: own.fee };
  return laidOut({ ...group, weight, fee: feeOf(weight, terms.feeRate), own, burn }, postage, isApart);
}

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

/** The first reveal with more for us. */
function withMore([first, ...others]: readonly RevealLayout[], more: bigint): readonly RevealLayout[] {
  if (first === undefined) return [];
  const own = { ...first.own, value: first.own.value + more };
  const { committed, feeInput } = first;
  const moved =
    feeInput === null ? { committed: committed + more, feeInput } : { committed, feeInput: feeInput + more };
  return [{ ...first, own, ...moved }, ...others];
}

/** One payment in, and what the reveals spend out. */
function commitOf(terms: OrderTerms, reveals: number): { weight: number; fee: bigint } {
  const outputs = reveals * (revealsPostageFirst(terms) ? 2 : 1);
  const weight = frameWeight(1, outputs) + keyInputWeight + outputs * p2trOutputWeight;
  return { weight, fee: feeOf(weight, terms.feeRate) };
}

function tooManyReveals(reveals: number): OrderRefusal {
  return refused(
    'commit-too-large',
    `The order needs ${reveals} reveal transactions, more than one commit transaction can pay for: split it into several orders (at most ${orderBounds.files} files each).`,
  );
}
