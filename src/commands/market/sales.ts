import { requireSales, type StoredSale, salesOfTransaction } from '#chain/sales/sale.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { SaleView } from '#kernel/sales/sale-view.ts';
import { saleView } from '#market/sales/sale-view.ts';
import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { hashFlag, settingFlag, tipFlag } from '#src/commands/flags.ts';
import { jsonFlag, shownTime } from '#src/commands/service-database.ts';

export const salesCommand: Command = {
  name: 'sales',
  object: null,
  operands: 'explain TXID | reclassify',
  summary: 'show what a transaction sold and by what evidence, or find all sales anew',
  details: `explain: names of classes, forms and confidences are in docs/marketplace.md. Of a transaction that
sold nothing, or is not indexed, it says so; --json is then [].

reclassify reads all indexed blocks again, from the node or the folder of --blocks, and replaces their sales by
those of this version's rules. The old sales answer until then. May run beside a service, which does so by
itself after an update that changes the rules; an interrupted run is resumed by the next one, or by a service
(docs/operating.md, "Reclassifying sales"). Progress goes to stderr.

  satscribe sales explain f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16
  satscribe sales explain f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16 --json
  satscribe sales reclassify --cookie-file ~/.bitcoin/.cookie
  satscribe sales reclassify --blocks ./samples/regtest --data /tmp/regtest --json`,
  flags: [
    jsonFlag,
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('network', 'NAME'),
    settingFlag('blocksDir', 'DIR'),
    tipFlag,
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runSales,
};

async function runSales(context: CommandContext): Promise<void> {
  const [action = '', ...words] = context.words;
  if (action === 'explain') return explain(context, words);
  if (action === 'reclassify') return reclassify(context, words);
  throw new UsageError(
    `${action === '' ? 'what' : action}? The command is satscribe sales explain or reclassify`,
  );
}

async function reclassify(context: CommandContext, [extra]: readonly string[]): Promise<void> {
  if (extra !== undefined) throw new UsageError(`unexpected word ${extra}`);
  const tip = hashFlag(context.flags, 'tip');
  const { reclassifySales } = await import('#src/app/market/reclassify.ts');
  const done = await reclassifySales(context, tip);
  const { rules, blocks, sales } = done;
  const count = (value: number): string => value.toLocaleString('en-US');
  await context.print(
    context.flags['json'] === undefined
      ? `${count(sales)} sales in ${count(blocks)} blocks, by version ${rules} of the rules\n`
      : `${JSON.stringify(done)}\n`,
  );
}

async function explain(context: CommandContext, words: readonly string[]): Promise<void> {
  const { flags, print, lifecycle } = context;
  const [text = '', extra] = words;
  const txid = parseTxid(text);
  if (txid === null) throw new UsageError(`sales explain needs a txid: 64 hexadecimal digits, not "${text}"`);
  if (extra !== undefined) throw new UsageError(`unexpected word ${extra}`);
  // loaded here, so that help and usage errors do not load all of it
  const { networkOf, openDatabase, tipOf } = await import('#src/app/database/database.ts');
  const database = await openDatabase(context, 'existing');
  const name = await networkOf(database);
  if (name === null) throw new AppError('nothing_indexed', 'No block is indexed: no sale is known.');
  const network = networks[name];
  const sales = await lifecycle.run('sales', (signal) =>
    withSnapshot(database.readers, ({ client }) => soldBy(client, txid), signal),
  );
  const shown = sales.map((sale) => saleView(sale, network));
  await print(
    flags['json'] === undefined
      ? shown.map(tableOf).join('\n') || nothingSold(displayHash(txid), await tipOf(database))
      : `${JSON.stringify(shown)}\n`,
  );
}

function nothingSold(txid: string, tip: number | null): string {
  return `No sale in the transaction ${txid} is indexed: it sold nothing, or its block comes after the last one, ${tip ?? 0}.
If it is newer, ask again once its block is indexed. What counts as a sale: docs/marketplace.md.
`;
}

async function soldBy(client: Parameters<typeof salesOfTransaction>[0], txid: Txid): Promise<StoredSale[]> {
  await requireSales(client);
  return salesOfTransaction(client, txid, null);
}

const labelWidth = 16;

/** A line for each field that has a value. */
function tableOf(sale: SaleView): string {
  return Object.entries({ ...sale, time: shownTime(new Date(sale.time * 1000)) })
    .filter(([, value]) => value !== null)
    .map(([label, value]) => `${label.padEnd(labelWidth)}${value}\n`)
    .join('');
}
