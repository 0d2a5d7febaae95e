import type pg from 'pg';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { reservedRune } from '#kernel/runes/rune.ts';
import { type ItemSale, openSales } from '#test/chaos/orders/item-sale.ts';
import type { RunRune } from './rune-purse.ts';

/** A collection that is sold for a rune. */
export interface RuneSale extends ItemSale {
  readonly sold: RunRune;
  /** The account of the collection's creator. */
  readonly account: string;
}

/**
 * Three collections. Two of them do not sell out, and one of these two is for the rune that waits for more blocks. The
 * third collection sells out.
 */
const wishes = [
  { id: 'moths', items: 300, rune: 0, account: 0, amount: 25n },
  { id: 'bees', items: 300, rune: 1, account: 1, amount: 10n ** 12n },
  { id: 'ants', items: 6, rune: 2, account: 2, amount: 2n ** 80n + 1n },
] as const;

/** Makes collections in the state after their approval, with their files on the disk of the service. */
export async function openRuneSales(
  pool: pg.Pool,
  filesDir: string,
  runes: readonly RunRune[],
  accounts: readonly string[],
): Promise<readonly RuneSale[]> {
  const sales = wishes.map(({ id, items, rune, account, amount }): RuneSale => {
    const sold = runes[rune]!;
    const creator = accounts[account]!;
    const { etching, name, divisibility } = sold;
    const runePrice = {
      account: creator,
      etching: trustedTxid(Buffer.from(etching, 'hex').reverse()),
      rune: reservedRune(sold.id.block, sold.id.tx),
      name,
      divisibility,
      amount,
    };
    return { id, items, prefix: `${id} item `, runePrice, sold, account: creator };
  });
  await openSales(pool, filesDir, sales);
  return sales;
}
