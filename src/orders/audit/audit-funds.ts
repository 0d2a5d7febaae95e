import { fundEntries } from '#orders/funds/book-funds.ts';
import type { FundCoin } from '#orders/funds/fund-coins.queries.ts';
import { balancesOf, type LedgerEntry } from '#purse/ledger/ledger.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { coinFaults } from './audit-order.ts';
import type { OrderDifference, Unspent } from './audited-order.ts';

/** Funds of the operator, with all that database and ledger say of them, at one moment. */
export interface AuditedFunds {
  readonly coins: readonly FundCoin[];
  readonly entries: readonly LedgerEntry[];
  /** Free coins of the funds in the wallet's table, by outpoint; null: earlier ones are not all listed. */
  readonly listed: ReadonlySet<string> | null;
}

/** Coins that must be unspent at the addresses for funds. */
const coinsOf = ({ coins }: AuditedFunds) =>
  coins
    .filter(({ height, spending }) => height !== null && spending !== 'mined')
    .map((coin) => ({
      outpoint: outpointOf(coin),
      value: coin.value,
      script: Buffer.from(coin.script).toString('hex'),
    }));

/** Outputs that the node must be asked about. Pure. */
export const questionsOfFunds = (funds: AuditedFunds): string[] =>
  coinsOf(funds).map(({ outpoint }) => outpoint);

/** All differences of the funds, by what blocks, node and ledger say at one block. Pure. */
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
