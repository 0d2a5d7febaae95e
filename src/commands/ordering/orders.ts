import { checkDestination } from '#kernel/bitcoin/destination.ts';
import { networks } from '#kernel/primitives/network.ts';
import { terminalText } from '#kernel/text/terminal-text.ts';
import type { OwingOrder } from '#orders/ledger/owed.queries.ts';
import { type Command, type CommandContext, UsageError, wrongSubcommand } from '#src/app/command-context.ts';
import { ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag, shownTime, withService } from '#src/commands/service-database.ts';

export const ordersCommand: Command = {
  name: 'orders',
  object: null,
  operands: 'list|show|retry|cancel|refund',
  summary: 'list, show, retry, cancel or refund orders',
  details: `Actions:

  list    shows the newest orders. With --state it shows orders in that state, and with --owed orders that
          still owe money.
  show    shows everything about one order: state, payments, transactions, ledger entries, events.
  retry   plans the transactions of an order in the state error again.
  cancel  cancels an order that has no payments.
  refund  pays what is owed, less the fee, to the address of --to. A running service with the seed makes the
          transaction once the payments have enough confirmations. If there were earlier refunds, or nothing
          is owed, stderr says so; with --json the field refund has this.

Anyone who has an order id can act for the order, so keep order ids out of chats and tickets
(docs/orders-api.md).

  satscribe orders list --state waiting-refund
  satscribe orders list --owed
  satscribe orders refund 6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11 --to bc1q…`,
  flags: [
    jsonFlag,
    ownFlag('state', 'STATE', 'list: only orders in this state'),
    ownFlag('owed', null, 'list: orders that still owe customers money; largest first'),
    ownFlag('limit', 'N', 'list: maximum number of orders, the newest first; unset: 50'),
    ownFlag('to', 'ADDRESS', 'refund: address that receives the money'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runOrders,
};

const limitDefault = 50;
const limitMost = 10_000;
const actions = ['list', 'show', 'retry', 'cancel', 'refund'] as const;
type Action = (typeof actions)[number];

async function runOrders(context: CommandContext): Promise<void> {
  const { words } = context;
  const [word = '', id = '', extra] = words;
  const action = actions.find((name) => name === word);
  if (action === undefined)
    throw wrongSubcommand(word, 'satscribe orders list, show, retry, cancel or refund');
  const unexpected = action === 'list' && id !== '' ? id : extra;
  if (unexpected !== undefined)
    throw new UsageError(`unexpected word ${unexpected}; satscribe orders --help shows the usage`);
  if (action === 'list') return listOrders(context);
  const { isOrderId } = await import('#orders/order/order-machine.ts');
  if (!isOrderId(id))
    throw new UsageError(
      `${id === '' ? 'missing order id' : `${id} is not an order id`}; use satscribe orders ${action} <id>`,
    );
  return changeAndShow(context, action, id);
}

async function listOrders({ flags, print, ...context }: CommandContext): Promise<void> {
  const { orderStates } = await import('#orders/order/order-machine.ts');
  const state = orderStates.find((name) => name === flags['state']) ?? null;
  if (flags['state'] !== undefined && state === null)
    throw new UsageError(`--state must be one of ${orderStates.join(', ')}`);
  const limit = Number(flags['limit'] ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMost)
    throw new UsageError(`--limit must be a number from 1 to ${limitMost}`);
  if (flags['owed'] !== undefined && state !== null)
    throw new UsageError('--owed shows ended orders in every state, so leave --state out');
  await withService({ flags, print, ...context }, async (pool) => {
    if (flags['owed'] !== undefined) {
      const { owingOrders } = await import('#orders/ledger/owed.queries.ts');
      const owing = await owingOrders(pool, limit);
      await print(flags['json'] === undefined ? owedTable(owing) : `${JSON.stringify(owing)}\n`);
      return;
    }
    const operatorOrders = await import('#orders/operator/operator-orders.ts');
    const orders = await operatorOrders.listOrders(pool, state, limit);
    await print(flags['json'] === undefined ? orderLines(orders) : `${JSON.stringify(orders)}\n`);
  });
}

type ListedOrder = Awaited<
  ReturnType<typeof import('#orders/operator/operator-orders.ts')['listOrders']>
>[number];

/** Returns the line of an order in a list. */
export function orderLine(order: Omit<ListedOrder, 'expiresAt'>): string {
  const { id, kind, state, amount, createdAt, error, stuck } = order;
  const reason = error ?? stuck;
  const why = reason === null ? '' : `  ${terminalText(reason)}`;
  return `${id}  ${kind.padEnd(9)}  ${state.padEnd(20)}  ${String(amount).padStart(12)} sats  ${shownTime(createdAt)}${why}\n`;
}

const orderLines = (orders: readonly ListedOrder[]): string =>
  orders.length === 0 ? 'no orders\n' : orders.map(orderLine).join('');

/** A table with lines of 80 columns, not counting the address. */
function owedTable(orders: readonly OwingOrder[]): string {
  const line = (id: string, state: string, owed: string, created: string, to: string): string =>
    `${id.padEnd(36)}  ${state.padEnd(14)}  ${owed.padStart(12)}  ${created.padEnd(10)}  ${to}\n`;
  const lines = orders.map(({ id, state, owed, refundAddress, createdAt }) =>
    line(id, state, String(owed), createdAt.toISOString().slice(0, 10), refundAddress ?? '-'),
  );
  const all = orders.reduce((sum, { owed }) => sum + owed, 0);
  return `${line('ORDER', 'STATE', 'OWED (SATS)', 'CREATED', 'GOES TO')}${lines.join('')}${orders.length} ${orders.length === 1 ? 'order' : 'orders'}, ${all} sats\n`;
}

async function changeAndShow(
  context: CommandContext,
  action: Exclude<Action, 'list'>,
  id: string,
): Promise<void> {
  const { flags, print } = context;
  await withService(context, async (pool) => {
    const operatorOrders = await import('#orders/operator/operator-orders.ts');
    const refund = await changeOrder(context, action, id, operatorOrders, pool);
    const order = await operatorOrders.showOrder(pool, id);
    const shown = refund === null ? order : { refund, ...order };
    await print(`${JSON.stringify(shown, null, flags['json'] === undefined ? 2 : 0)}\n`);
    // print the notes to stderr, because they are for people and the printed order is for programs
    for (const note of refund?.notes ?? []) process.stderr.write(`${note}\n`);
  });
}

type ShownRefund = Awaited<
  ReturnType<typeof import('#orders/operator/operator-orders.ts')['outcomeOfRefund']>
> & { readonly notes: readonly string[] };

/** The additional text to print with the order. `null` if there is none. */
async function changeOrder(
  { flags }: CommandContext,
  action: Exclude<Action, 'list'>,
  id: string,
  operatorOrders: typeof import('#orders/operator/operator-orders.ts'),
  pool: Parameters<typeof operatorOrders.showOrder>[0],
): Promise<ShownRefund | null> {
  if (action === 'cancel') await operatorOrders.cancelOrder(pool, id);
  if (action === 'retry') await operatorOrders.retryOrder(pool, id);
  if (action !== 'refund') return null;
  const address = flags['to'];
  if (address === undefined)
    throw new UsageError('missing address; use satscribe orders refund <id> --to ADDRESS');
  const network = await operatorOrders.networkOfOrders(pool);
  // `refundOrder` checks whether the address belongs to the service
  const parsed = checkDestination({ address, network: networks[network], amount: null }, 'later');
  if (parsed.kind === 'refused') throw new UsageError(`--to: ${address} ${parsed.reason}`);
  // read this before the request, because the request may be processed at once
  const outcome = await operatorOrders.outcomeOfRefund(pool, id, network);
  await operatorOrders.refundOrder(pool, id, parsed.script);
  const { refundNotes } = await import('#orders/operator/refund-outcome.ts');
  return { ...outcome, notes: refundNotes(outcome, address, outcome.isAsked) };
}
