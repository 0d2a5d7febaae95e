import { requireNotBehind } from '#chain/derived/derived-tables.queries.ts';
import { type StoredSale, salesOfTransaction } from '#chain/sales/sale.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { SaleView } from '#kernel/sales/sale-view.ts';
import { saleView } from '#market/sales/sale-view.ts';
import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { settingFlag } from './flags.ts';
import { jsonFlag } from './service-database.ts';

export const salesCommand: Command = {
  name: 'sales',
  object: null,
  operands: 'explain TXID',
  summary: 'show what a transaction sold, and by what evidence',
  details: `Names of classes, forms and confidences: docs/marketplace.md. A transaction that sold nothing, or is not
indexed, shows nothing.

  satscribe sales explain f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16
  satscribe sales explain f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16 --json`,
  flags: [jsonFlag, settingFlag('dataDir', 'DIR'), settingFlag('logLevel', 'LEVEL', 'warn')],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runSales,
};

async function runSales(context: CommandContext): Promise<void> {
  const { flags, words, print, lifecycle } = context;
  const [action = '', text = '', extra] = words;
  if (action !== 'explain')
    throw new UsageError(`${action === '' ? 'what' : action}? The command is satscribe sales explain`);
  const txid = parseTxid(text);
  if (txid === null) throw new UsageError(`sales explain needs a txid: 64 hexadecimal digits, not "${text}"`);
  if (extra !== undefined) throw new UsageError(`unexpected word ${extra}`);
  // loaded here, so that help and usage errors do not load all of it
  const { networkOf, openDatabase } = await import('#src/app/database.ts');
  const database = await openDatabase(context, 'existing');
  const name = await networkOf(database);
  if (name === null) throw new AppError('nothing_indexed', 'No block is indexed: no sale is known.');
  const network = networks[name];
  const sales = await lifecycle.run('sales', (signal) =>
    withSnapshot(database.readers, ({ client }) => soldBy(client, txid), signal),
  );
  const shown = sales.map((sale) => saleView(sale, network));
  await print(flags['json'] === undefined ? shown.map(tableOf).join('\n') : `${JSON.stringify(shown)}\n`);
}

async function soldBy(client: Parameters<typeof salesOfTransaction>[0], txid: Txid): Promise<StoredSale[]> {
  await requireNotBehind(client, 'sales');
  return salesOfTransaction(client, txid);
}

const labelWidth = 16;

/** A line for each field that has a value. */
function tableOf(sale: SaleView): string {
  return Object.entries(sale)
    .filter(([, value]) => value !== null)
    .map(([label, value]) => `${label.padEnd(labelWidth)}${value}\n`)
    .join('');
}
