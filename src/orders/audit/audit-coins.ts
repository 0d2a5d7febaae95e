import { p2trDust } from '#orders/inscribing/plan-amounts.ts';
import { spentBy, valueIn } from '#purse/transactions/stored-plan.ts';
import type {
  AuditedOrder,
  AuditedTransaction,
  Coin,
  ListedCoin,
  OrderDifference,
  Unspent,
} from './audited-order.ts';

/** Kinds of outputs that the wallet can spend. The wallet's table of coins must contain all such outputs. */
const ownKinds: ReadonlySet<string> = new Set(['commit', 'service', 'change', 'bump']);

/**
 * Listed coins that are in blocks, but are explained by no payment and no plan of the order. The node must be asked
 * whether these coins are unspent.
 */
export function unexplainedCoins(order: AuditedOrder, mined: ReadonlySet<string>): Coin[] {
  const known = new Set([
    ...expectedCoins(order, mined).map(({ outpoint }) => outpoint),
    ...spentIn(order, mined),
  ]);
  return (order.listed ?? []).filter(({ outpoint, isInBlock }) => isInBlock && !known.has(outpoint));
}

/**
 * Differences between the wallet's table of coins and the chain. `unlisted`: the table lacks an own output that is in a
 * block. `not-there`: the chain does not have a listed coin. `holder`: the listed holder of a coin differs from the
 * holder that payments and plans determine. The table is checked, never trusted. Returns no differences while the coins
 * of an earlier version are still being listed. Pure.
 */
export function listedFaults(
  order: AuditedOrder,
  mined: ReadonlySet<string>,
  unspent: Unspent,
): OrderDifference[] {
  if (order.listed === null) return [];
  const listed = new Map(order.listed.map((coin) => [coin.outpoint, coin]));
  const unlisted = expectedCoins(order, mined).filter(({ outpoint }) => !listed.has(outpoint));
  const gone = unexplainedCoins(order, mined).filter(({ outpoint }) => !unspent.has(outpoint));
  const wrong = expectedCoins(order, mined).flatMap(({ outpoint, value, mayBeFree }) => {
    const coin = listed.get(outpoint);
    return coin === undefined || !isWrong(coin, mayBeFree) ? [] : [{ outpoint, value }];
  });
  return [
    ...unlisted.map(({ outpoint, value }) => difference('unlisted', outpoint, 0n, value)),
    ...gone.map(({ outpoint, value }) => difference('not-there', outpoint, value, 0n)),
    ...wrong.map(({ outpoint, value }) => difference('holder', outpoint, value, value)),
  ];
}

const difference = (
  kind: OrderDifference['kind'],
  where: string,
  ledger: bigint,
  chain: bigint,
): OrderDifference => ({ kind, where, ledger, chain });

/**
 * Whether a coin is listed as free although it is not free, or as not free although it is free. `mayBeFree` is null if
 * other orders also decide; the coin is then not checked.
 */
const isWrong = ({ isFree }: ListedCoin, mayBeFree: boolean | null): boolean =>
  mayBeFree !== null && isFree !== mayBeFree;

interface ExpectedCoin extends Coin {
  readonly mayBeFree: boolean | null;
}

/** Outputs in blocks at scripts of the wallet, including spent outputs. */
function expectedCoins(order: AuditedOrder, mined: ReadonlySet<string>): ExpectedCoin[] {
  const { payments, transactions } = order;
  const spent = plannedToSpend(transactions);
  const made = transactions
    .filter(({ txid, isSuperseded }) => mined.has(txid) && !isSuperseded)
    .flatMap((transaction) =>
      transaction.plan.outputs.flatMap(({ kind, value, script }, vout): ExpectedCoin[] => {
        if (!ownKinds.has(kind)) return [];
        const outpoint = `${transaction.txid}:${vout}`;
        const isKept = kind === 'commit' || spent.has(outpoint);
        const mayBeFree = isOfOperator(transaction) || (isKept ? false : isOurs(order, transaction));
        return [{ outpoint, value: BigInt(value), script, mayBeFree }];
      }),
    );
  return [...payments.map((payment) => ({ ...payment, mayBeFree: false })), ...made];
}

/**
 * Whether a transaction is a return that spends a coin of the operator. Its output at our script is then the change of
 * that coin.
 */
const isOfOperator = ({ kind, plan }: AuditedTransaction): boolean =>
  kind === 'return' && plan.inputs.some(({ isOperator }) => isOperator === true);

/**
 * Whether a transaction's output at our script belongs to the service. This is true if the order is delivered, and the
 * output contains no customer's money. Null if other orders also decide.
 */
function isOurs(order: AuditedOrder, { kind, index, plan }: AuditedTransaction): boolean | null {
  const isDelivered = order.state === 'completed';
  if (kind === 'return') return false;
  if (kind === 'bump') return isDelivered && !('owed' in plan) ? null : false;
  if (kind === 'refund') return isDelivered;
  const paying =
    kind === 'burn'
      ? order.transactions.find(
          (made) => made.kind === 'reveal' && made.index === index && !made.isSuperseded,
        )?.plan
      : plan;
  if (paying === undefined) return false;
  const parents = valueIn(paying.outputs.filter((output) => output.kind === 'parent'));
  const paid = valueIn(paying.inputs.filter(({ isInventory }) => isInventory !== true)) - parents;
  return isDelivered && paid - order.amount < p2trDust;
}

/** Outputs that the order's own transactions spend, whether these transactions are mined or not. */
const plannedToSpend = (transactions: readonly AuditedTransaction[]): ReadonlySet<string> =>
  spentBy(transactions.filter(({ kind, isSuperseded }) => kind !== 'bump' && !isSuperseded));

const spentIn = (
  { transactions, spentByOthers }: AuditedOrder,
  mined: ReadonlySet<string>,
): readonly string[] => [...spentByOthers, ...spentBy(transactions.filter(({ txid }) => mined.has(txid)))];
