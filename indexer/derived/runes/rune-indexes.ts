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
  // the etching of a transaction, and of the inscription that it reveals
  runes_etching: { table: 'chain.runes', columns: 'txid' },
  // the spends of a block, and, by heights in turn, the spends of a rune since a height: holders at a height
  rune_balances_spends: {
    table: balances,
    columns: 'spent_height, rune_key',
    where: 'spent_height IS NOT NULL',
    isForUndo: true,
  },
  // holders of a rune, without the table
  rune_balances_holder: {
    table: balances,
    columns: 'rune_key, script, amount, height',
    where: 'spent_height IS NULL',
  },
  // the history of a rune
  rune_balances_rune: { table: balances, columns: 'rune_key, height' },
  // runes of an address: those received, and those still there
  rune_balances_script: { table: balances, columns: 'chain.hash32(script), height, spent_height' },
  // and those sent
  rune_balances_sent: {
    table: balances,
    columns: 'chain.hash32(script), spent_height',
    where: 'spent_height IS NOT NULL',
  },
  // the burn of a rune by a transaction, which anyone may name (POST /tokenpay/validate-burn-rune-tx)
  rune_burns_txid: { table: 'chain.rune_burns', columns: 'chain.hash32(txid)' },
  rune_burns_height: { table: 'chain.rune_burns', columns: 'height, tx_index', isForUndo: true },
};

/**
 * Builds the indexes that questions need, if they are missing. A first load has them from its first question on. If
 * memory knows all runes that its blocks name, they are built at its end, which costs a fifth.
 */
export async function ensureAskedIndexes(client: pg.ClientBase): Promise<void> {
  for (const [name, index] of Object.entries(askedIndexes)) {
    const where = 'where' in index ? `WHERE ${index.where}` : '';
    await client.query(`CREATE INDEX IF NOT EXISTS ${name} ON ${index.table} (${index.columns}) ${where}`);
  }
}
