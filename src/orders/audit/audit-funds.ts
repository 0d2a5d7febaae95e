import { fundEntries } from '#orders/funds/book-funds.ts';
import type { FundCoin } from '#orders/funds/fund-coins.queries.ts';
import { balancesOf, type LedgerEntry } from '#purse/ledger/ledger.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { coinFaults } from './audit-order.ts';
import type { OrderDifference, Unspent } from './audited-order.ts';

/** Funds of the operator, with the data of the database and the ledger about them, read at one moment. */
export interface AuditedFunds {
  readonly coins: readonly FundCoin[];
  readonly entries: readonly LedgerEntry[];
  /**
   * Outpoints of free coins of the funds in the wallet's table. Null if the coins of an earlier version are still being
   * listed.
   */
  readonly listed: ReadonlySet<string> | null;
}

/** Coins that must be unspent, at the addresses for funds. */
const coinsOf = ({ coins }: AuditedFunds) =>
  coins
    .filter(({ height, spending }) => height !== null && spending !== 'mined')
    .map((coin) => ({
      outpoint: outpointOf(coin),
      value: coin.value,
      script: Buffer.from(coin.script).toString('hex'),
    }));

/** Outputs to ask the node about. Pure. */
export const questionsOfFunds = (funds: AuditedFunds): string[] =>
  coinsOf(funds).map(({ outpoint }) => outpoint);

/** All differences of the funds. Blocks, node and ledger must be read at the same block. Pure. */
export function auditFunds(funds: AuditedFunds, unspent: Unspent): OrderDifference[] {
  const booked = balanceOf(funds.entries);
  const received = balanceOf(fundEntries(funds.coins));
  const missing = coinsOf(funds).flatMap((coin) => coinFaults(coin, unspent.get(coin.outpoint)));
  const { listed } = funds;
  const unlisted = coinsOf(funds)
    .filter(({ outpoint }) => listed?.has(outpoint) === false)
    .map(
      ({ outpoint, value }): OrderDifference => ({
        kind: 'unlisted',
        where: outpoint,
        ledger: 0n,
        chain: value,
      }),
    );
  const sums: OrderDifference[] =
    booked === received ? [] : [{ kind: 'received', where: null, ledger: booked, chain: received }];
  return [...sums, ...missing, ...unlisted];
}

const balanceOf = (entries: readonly LedgerEntry[]): bigint => balancesOf(entries).get('operator') ?? 0n;
