import type { ClientBase } from 'pg';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';

/** Maximum number of runes that are read at once. Postgres sorts their balances, mostly in memory. */
const runesPerPage = 500;
/** Maximum number of balances in memory at once. */
const rowsPerPage = 5000;

interface RuneRow {
  key: number;
  rune: string;
}

interface BalanceRow {
  key: number;
  rune: string;
  spacers: number;
  divisibility: number;
  symbol: number | null;
  txid: Txid;
  vout: number;
  amount: string;
}

/**
 * Writes the output of `ord balances`, byte for byte. It is one JSON object with the unspent balances of each rune by
 * output, in pieces. Runes ascend by the numbers of their names. Outputs ascend by the bytes of their txid, then by
 * index. `client` must be in a snapshot.
 */
export async function* exportBalances(client: ClientBase): AsyncGenerator<string> {
  let isFirst = true;
  let rune: number | null = null;
  for await (const rows of balancePages(client)) {
    let text = isFirst ? '{\n  "runes": {' : '';
    for (const row of rows) {
      if (rune === row.key) text += ',';
      else text += `${rune === null ? '' : '\n    },'}\n    ${nameOf(row)}: {`;
      text += balanceText(row);
      rune = row.key;
    }
    isFirst = false;
    yield text;
  }
  if (isFirst) yield '{\n  "runes": {}\n}\n';
  else yield '\n    }\n  }\n}\n';
}

const nameOf = ({ rune, spacers }: BalanceRow): string =>
  JSON.stringify(formatSpacedRune({ rune: asRune(BigInt(rune)), spacers }));

function balanceText({ txid, vout, amount, divisibility, symbol }: BalanceRow): string {
  const shown = symbol === null ? 'null' : JSON.stringify(String.fromCodePoint(symbol));
  return `
      "${displayHash(txid)}:${vout}": {
        "amount": ${amount},
        "divisibility": ${divisibility},
        "symbol": ${shown}
      }`;
}

/** Reads all unspent balances in this order, in pages. */
async function* balancePages(client: ClientBase): AsyncGenerator<BalanceRow[]> {
  let after = '-1';
  for (;;) {
    const { rows: runes } = await client.query<RuneRow>(
      // sort by the number, because its text would be sorted as text
      'SELECT key, rune::text FROM chain.runes AS r WHERE rune > $1::numeric ORDER BY r.rune LIMIT $2',
      [after, runesPerPage],
    );
    const last = runes.at(-1);
    if (last === undefined) return;
    after = last.rune;
    await client.query(
      // keys are safe in the SQL text, because they are our own numbers
      `DECLARE balances NO SCROLL CURSOR FOR
       SELECT r.key, r.rune::text, r.spacers, r.divisibility, r.symbol, b.txid, b.vout, b.amount::text
       FROM chain.rune_balances b JOIN chain.runes r ON r.key = b.rune_key
       WHERE b.rune_key = ANY('{${runes.map(({ key }) => key).join(',')}}') AND b.spent_height IS NULL
       ORDER BY r.rune, b.txid, b.vout`,
    );
    for (;;) {
      const { rows } = await client.query<BalanceRow>(`FETCH ${rowsPerPage} FROM balances`);
      if (rows.length > 0) yield rows;
      if (rows.length < rowsPerPage) break;
    }
    await client.query('CLOSE balances');
  }
}
