import type pg from 'pg';
import type { SecondaryIndex } from '../derived-table.ts';

const balances = 'chain.rune_balances';

/** Indexes that the writer itself reads: the rows of an outpoint, and the newest mint of a rune. */
const askedIndexes = {
  rune_balances_outpoint: {
    table: balances,
    columns: 'chain.hash64(txid, vout)',
    where: 'spent_height IS NULL',
  },
  rune_mints_rune: { table: 'chain.rune_mints', columns: 'rune_key, height' },
} as const satisfies Readonly<Record<string, SecondaryIndex>>;

/** The secondary indexes of the tables of runes. */
export const runeIndexes: Readonly<Record<string, SecondaryIndex>> = {
  ...askedIndexes,
  // finds the rune etched by a transaction, or together with an inscription
  runes_etching: { table: 'chain.runes', columns: 'txid' },
  // finds the spends of a block, and the spends of a rune since a height (for holders at a height)
  rune_balances_spends: {
    table: balances,
    columns: 'spent_height, rune_key',
    where: 'spent_height IS NOT NULL',
    isForUndo: true,
  },
  // lists the holders of a rune from the index alone
  rune_balances_holder: {
    table: balances,
    columns: 'rune_key, script, amount, height',
    where: 'spent_height IS NULL',
  },
  // lists the history of a rune
  rune_balances_rune: { table: balances, columns: 'rune_key, height' },
  // lists the runes of an address: those received, and those that it still has
  rune_balances_script: { table: balances, columns: 'chain.hash32(script), height, spent_height' },
  // lists the runes that an address has sent
  rune_balances_sent: {
    table: balances,
    columns: 'chain.hash32(script), spent_height',
    where: 'spent_height IS NOT NULL',
  },
  // finds the burns of a rune by a transaction that a client names (POST /tokenpay/validate-burn-rune-tx)
  rune_burns_txid: { table: 'chain.rune_burns', columns: 'chain.hash32(txid)' },
  rune_burns_height: { table: 'chain.rune_burns', columns: 'height, tx_index', isForUndo: true },
};

/**
 * Builds the indexes that questions need, if they are missing. A first load builds them before its first question. If
 * memory knows all runes that its blocks name, they are only built at its end, which costs a fifth.
 */
export async function ensureAskedIndexes(client: pg.ClientBase): Promise<void> {
  for (const [name, index] of Object.entries(askedIndexes)) {
    const where = 'where' in index ? `WHERE ${index.where}` : '';
    await client.query(`CREATE INDEX IF NOT EXISTS ${name} ON ${index.table} (${index.columns}) ${where}`);
  }
}
