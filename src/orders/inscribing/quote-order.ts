import { standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import type { Discount, DiscountedFee } from '#kernel/contracts/asking-key.ts';
import { discountedFee } from '#kernel/discounted-fee.ts';
import { chargedItems, claimedName, postageCount } from './etching-parts.ts';
import { layoutOrder, type OrderLayout } from './order-layout.ts';
import type { OrderRefusal, OrderTerms } from './order-terms.ts';
import { pushBytesMax } from './reveal-script.ts';

/** Prices of the service, in sats per file. */
export interface OrderPrices {
  readonly baseFee: bigint;
  readonly rareSatsFee: bigint;
  readonly collectionServiceFee: bigint;
  /** Price that goes to the creator of a collection. */
  readonly price: bigint;
  /** Size fee as a percentage of the chain fee, a whole number. Only orders that are not direct pay it. */
  readonly sizeFeePercent: number;
  readonly discounts: readonly Discount[];
}

export interface OrderWarning {
  readonly code:
    | 'vindicated'
    | 'non-standard'
    | 'dust'
    | 'fee-rate-low'
    | 'several-reveals'
    | 'name-taken'
    | 'mints-used'
    | 'burn'
    | 'cheaper-phase';
  /** A sentence for people. */
  readonly message: string;
}

export interface QuotedTransaction {
  readonly kind: 'commit' | 'reveal' | 'burn' | 'mint';
  readonly weight: number;
  readonly fee: bigint;
  /** Number of files that the transaction inscribes or burns; `firstFile` is the index of the first of these files. */
  readonly files: number;
  readonly firstFile: number;
}

/** The price of an order, in sats. */
export interface OrderQuote extends Record<DiscountedFee, bigint> {
  readonly kind: 'quote';
  /** Fees of all transactions, and the sats that our outputs need to be relayed. */
  readonly chainFee: bigint;
  readonly serviceFee: bigint;
  readonly sizeFee: bigint;
  /** Sum of the additional fees of all files. */
  readonly additionalFeeCharged: bigint;
  readonly postage: bigint;
  readonly count: number;
  readonly price: bigint;
  readonly discounts: readonly Discount[];
  readonly amount: bigint;
  readonly warnings: readonly OrderWarning[];
  readonly transactions: readonly QuotedTransaction[];
  /** Layout of the transactions that are made after the payment. */
  readonly layout: OrderLayout;
}

/**
 * Computes the price of an order. The chain fee comes from the exact transactions at the requested fee rate; the other
 * fees follow the formula of the public interface. Invariant: `amount` is exactly the sum of all outputs and fees of
 * the layout.
 */
export function quoteOrder(terms: OrderTerms, prices: OrderPrices): OrderQuote | OrderRefusal {
  const { baseFee, rareSatsFee, collectionServiceFee } = prices;
  const { price, discounts } = prices;
  const fees = {
    baseFee: discountedFee(baseFee, 'baseFee', discounts),
    rareSatsFee: discountedFee(rareSatsFee, 'rareSatsFee', discounts),
    collectionServiceFee: discountedFee(collectionServiceFee, 'collectionServiceFee', discounts),
  };
  const count = chargedItems(terms);
  const files = BigInt(count);
  const additionalFeeCharged = terms.additionalFee * files;
  const perFile = fees.baseFee + fees.rareSatsFee + fees.collectionServiceFee + price;
  const layout = layoutOrder(terms, {
    amount: perFile * files + additionalFeeCharged,
    size: { percent: terms.type === 'direct' ? 0 : prices.sizeFeePercent },
  });
  if (layout.kind === 'refused') return layout;
  const { chainFee, sizeFees, postage } = layout;
  const sizeFee = sizeFees.all;
  const serviceFee = perFile * files + postage * BigInt(postageCount(terms)) + additionalFeeCharged + sizeFee;
  return {
    kind: 'quote',
    chainFee,
    ...fees,
    serviceFee,
    sizeFee,
    additionalFeeCharged,
    postage,
    count,
    price,
    discounts,
    amount: serviceFee + chainFee,
    warnings: warningsOf(terms, layout),
    transactions: transactionsOf(layout, terms),
    layout,
  };
}

function transactionsOf(
  { commit, reveals }: OrderLayout,
  { files: { length: count }, mint }: OrderTerms,
): QuotedTransaction[] {
  const revealed = reveals.flatMap(({ first, count: files, weight, fee, burn }): QuotedTransaction[] => {
    const kind = mint === null ? 'reveal' : 'mint';
    const reveal = { kind, weight, fee, files, firstFile: mint === null ? first : 0 } as const;
    return burn === null ? [reveal] : [reveal, { ...reveal, kind: 'burn', ...burn }];
  });
  return commit === null
    ? revealed
    : [{ kind: 'commit', ...commit, files: count, firstFile: 0 }, ...revealed];
}

/** Smallest value of an output that can be sent to any type of address without adding sats (`dustOf`, P2PKH). */
const movablePostage = 546n;
/** Smallest fee rate that older nodes relay. It is 1 sat/vB before Bitcoin Core 28.3. */
const relayedFeeRate = 1000n;

function warningsOf(terms: OrderTerms, layout: OrderLayout): OrderWarning[] {
  const { reveals, postage } = layout;
  const warnings: OrderWarning[] = [];
  const add = (code: OrderWarning['code'], message: string): void => {
    warnings.push({ code, message });
  };
  const vindicated = vindicatedWarning(terms, layout);
  if (vindicated !== null) warnings.push(vindicated);
  if (reveals.some(({ weight }) => weight > standardWeightMax)) {
    const message = `A reveal is above ${standardWeightMax} weight units. Nodes do not relay it, so a miner must accept it directly.`;
    add('non-standard', message);
  }
  if (postage < movablePostage) {
    const message = `A postage below ${movablePostage} sats is dust for some types of addresses. What it holds can only be sent to such an address with additional sats.`;
    add('dust', message);
  }
  if (terms.feeRate < relayedFeeRate) {
    add(
      'fee-rate-low',
      'Older nodes do not relay transactions below 1 sat/vB, so it may take long until they are mined.',
    );
  }
  if (terms.type === 'direct' && layout.paidTo === 'wallet') {
    add(
      'several-reveals',
      `The order needs ${reveals.length === 1 ? 'a commit and a reveal' : `a commit and ${reveals.length} reveals`}. Its charge is paid to the service, which makes these transactions.`,
    );
  }
  const spent = spentWarning(terms, layout);
  if (spent !== null) warnings.push(spent);
  if (terms.burn) add('burn', 'The inscriptions are burned, so no one can own or move them.');
  return warnings;
}

function vindicatedWarning(terms: OrderTerms, layout: OrderLayout): OrderWarning | null {
  const count = vindicatedFiles(terms, layout);
  if (count === 0) return null;
  const advice =
    terms.inventory === null ? 'uncurseIt avoids this if possible.' : 'The pointer to the sat causes this.';
  const message = `${filesWords(count)} would have been cursed before the jubilee. ord numbers them like other inscriptions and gives them the charm vindicated. ${advice}`;
  return { code: 'vindicated', message };
}

/**
 * Warning about fees that the miner keeps if an etching or mints fail; null if the order has no claimed name and no
 * mints.
 */
function spentWarning(terms: OrderTerms, { commit, reveals: [mint] }: OrderLayout): OrderWarning | null {
  if (commit === null || mint === undefined) return null;
  if (terms.mint !== null) {
    const message = `The commit pays ${commit.fee} sats to the miner, and each mint ${mint.fee}. If others use all mints first, unsent mints are refunded, less the fees of the commit and of the refund. A mint that is mined but not executed also costs its own fee.`;
    return { code: 'mints-used', message };
  }
  if (claimedName(terms) === null) return null;
  const message = `The commit claims the name, and pays ${commit.fee} sats to the miner. The reveal is sent five blocks later. If another transaction etches the name before that, the rest is refunded.`;
  return { code: 'name-taken', message };
}

const filesWords = (count: number): string => (count === 1 ? '1 inscription' : `${count} inscriptions`);

/**
 * Number of files that are vindicated, because their envelope is not the first envelope of the first input, or because
 * it repeats a field.
 */
function vindicatedFiles(
  { files, parents, uncurse, inventory }: OrderTerms,
  { reveals }: OrderLayout,
): number {
  if (uncurse) return 0;
  if (parents.length > 0 || inventory !== null) return files.length;
  const firsts = new Set(reveals.map(({ first }) => first));
  return files.filter(
    ({ metadata }, index) =>
      !firsts.has(index) ||
      (typeof metadata === 'number' ? metadata : (metadata?.length ?? 0)) > pushBytesMax,
  ).length;
}
