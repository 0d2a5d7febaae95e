import { requireSales, type StoredSale, salesOfTransaction } from '#chain/sales/sale.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { networks } from '#kernel/primitives/network.ts';
import { type Refusal, refusals } from '#kernel/sales/refusals.ts';
import type { MoveClass } from '#kernel/sales/sale-names.ts';
import type { SaleView } from '#kernel/sales/sale-view.ts';
import { saleView } from '#market/sales/sale-view.ts';
import { type Command, type CommandContext, UsageError, wrongSubcommand } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import type { RefusedQuestion } from '#src/app/market/explain-refusal.ts';
import { hashFlag, heightFlag, settingFlag, tipFlag } from '#src/commands/flags.ts';
import { jsonFlag, shownTime } from '#src/commands/service-database.ts';

export const salesCommand: Command = {
  name: 'sales',
  object: null,
  operands: 'explain TXID | reclassify',
  actions: ['explain', 'reclassify'],
  summary: 'show what a transaction sold or why it sold nothing, or reclassify all sales',
  details: `explain shows the sales of a transaction. docs/marketplace.md lists the names of classes, forms, confidences
and rules. For a transaction that sold nothing, explain reads its block from the node or the folder of
--blocks, and names the rule that refused each moved inscription. Without the block it says what is missing,
and --json prints [].

reclassify reads all indexed blocks again, from the node or the folder of --blocks, and replaces their sales
with the sales by this version's rules. Until then, the old sales are shown. It may run beside a service.
After an update that changes the rules, a service reclassifies by itself. After an interruption, the next
run or a service resumes the work (docs/runbook.md, "Reclassifying sales"). Progress goes to stderr.

  satscribe sales explain f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16
  satscribe sales explain f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16 --json
  satscribe sales explain f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16 --height 170
  satscribe sales reclassify --cookie-file ~/.bitcoin/.cookie
  satscribe sales reclassify --blocks ./samples/regtest --data /tmp/regtest --json`,
  flags: [
    jsonFlag,
    {
      name: 'height',
      value: 'N',
      description: 'explain: height of the block of the transaction; unset: the block is searched for',
      setting: null,
      default: null,
    },
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
  throw wrongSubcommand(action, 'satscribe sales explain or reclassify');
}

async function reclassify(context: CommandContext, [extra]: readonly string[]): Promise<void> {
  if (context.flags['height'] !== undefined)
    throw new UsageError('--height is not a flag of satscribe sales reclassify');
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
  if (txid === null)
    throw new UsageError(`sales explain needs a txid (64 hexadecimal digits), but got "${text}"`);
  if (extra !== undefined) throw new UsageError(`unexpected word ${extra}`);
  const asked = { txid, height: heightFlag(flags, 'height'), tip: hashFlag(flags, 'tip') };
  // loaded here, so that help and usage errors do not load it
  const { networkOf, openDatabase } = await import('#src/app/database/database.ts');
  const database = await openDatabase(context, 'existing');
  const name = await networkOf(database);
  if (name === null) throw new AppError('nothing_indexed', 'No sale is known, because no block is indexed.');
  const network = networks[name];
  const sales = await lifecycle.run('sales', (signal) =>
    withSnapshot(database.readers, ({ client }) => soldBy(client, txid), signal),
  );
  if (sales.length === 0) return explainUnsold(context, database, asked);
  const shown = sales.map((sale) => saleView(sale, network));
  await print(flags['json'] === undefined ? shown.map(tableOf).join('\n') : `${JSON.stringify(shown)}\n`);
}

/** A move that was not a sale, with the fields that are shown. */
interface RefusedMove {
  readonly inscriptionId: string;
  readonly txid: string;
  readonly height: number;
  readonly input: number;
  readonly class: MoveClass;
  readonly refusedBy: Refusal | null;
  readonly why: string;
}

async function explainUnsold(
  context: CommandContext,
  database: Database,
  asked: RefusedQuestion,
): Promise<void> {
  const { flags, print, logger } = context;
  const { explainRefusal } = await import('#src/app/market/explain-refusal.ts');
  const explained = await explainRefusal(context, database, asked);
  const txid = displayHash(asked.txid);
  const isJson = flags['json'] !== undefined;
  if (explained.moves === null) {
    if (isJson) logger.warn({ reason: explained.why }, 'the rule that refused the transaction is unknown');
    const { tipOf } = await import('#src/app/database/database.ts');
    return print(isJson ? '[]\n' : `${nothingSold(txid, await tipOf(database))}${explained.why}\n`);
  }
  const { height, moves } = explained;
  const shown = moves.map(
    ({ revealTxid, index, input, class: of, refusedBy }): RefusedMove => ({
      inscriptionId: formatInscriptionId(revealTxid, index),
      txid,
      height,
      input,
      class: of,
      refusedBy,
      why: refusedBy === null ? olderRules : refusals[refusedBy],
    }),
  );
  if (isJson) return print(`${JSON.stringify(shown)}\n`);
  const nothing = `The transaction ${txid} of block ${height} moves no inscription, so it sells nothing.\n`;
  return print(shown.map(linesOf).join('\n') || nothing);
}

const olderRules =
  'this is a sale by the rules of this version, but its block was indexed with older rules; run satscribe sales reclassify';

function nothingSold(txid: string, tip: number | null): string {
  return `No sale in the transaction ${txid} is indexed. It sold nothing, or its block comes after the last indexed block, ${tip ?? 0}.
If the transaction is newer, ask again once its block is indexed. docs/marketplace.md says what a sale is.
Without the block it is unknown which rule refused the transaction. `;
}

async function soldBy(client: Parameters<typeof salesOfTransaction>[0], txid: Txid): Promise<StoredSale[]> {
  await requireSales(client);
  return salesOfTransaction(client, txid, null);
}

const labelWidth = 16;

function tableOf(sale: SaleView): string {
  return linesOf({ ...sale, time: shownTime(new Date(sale.time * 1000)) });
}

/** Returns a line for each field that has a value. */
function linesOf(fields: object): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([label, value]) => `${label.padEnd(labelWidth)}${value}\n`)
    .join('');
}
