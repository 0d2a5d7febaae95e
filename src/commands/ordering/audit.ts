import { AppError } from '#kernel/errors/app-error.ts';
import type { OrderDifference } from '#orders/audit/audited-order.ts';
import type { HeldPayments } from '#src/app/backups/held/held-payments.ts';
import type { Command, CommandContext } from '#src/app/command-context.ts';
import type { FoundByAudits } from '#src/app/ordering/all-audits.ts';
import { settingFlag } from '#src/commands/flags.ts';
import { jsonFlag, withService } from '#src/commands/service-database.ts';
import { orderLine } from './orders.ts';

export const auditCommand: Command = {
  name: 'audit',
  object: null,
  summary: 'compare the ledger of the orders with the chain and the index',
  details: `Compares the ledger and the orders with the chain and the index:

- each order with its blocks: payments, outputs that must be unspent at scripts of the wallet, transactions,
  fees, refunds, and the positions of deliveries in the index
- each payout with its payments
- collections for sale: their counters with their items and orders, these items and orders with the states
  of orders, and the earnings of creators with the ledger
- accounts of shops with their incoming payments
- after a restore, until satscribe payouts release: transactions of the wallet that the backup does not know

The command needs the node, and an index at the tip of the node. It changes nothing, and may run beside a
service. If there is a difference, the exit code is 1. The output lists each difference with its order and
what to do (docs/orders-operator.md, "Audit"). Anyone who has an order id can act for the order, so treat
order ids as secrets.

  satscribe audit --cookie-file ~/.bitcoin/.cookie
  satscribe audit --json`,
  flags: [
    jsonFlag,
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runAudit,
};

async function runAudit(context: CommandContext): Promise<void> {
  // loaded here, so that help and usage errors do not load it
  const [
    { withNodeOf },
    { auditAll, unmeant },
    { servedNetwork },
    { openPublicWallet },
    { readHeldPayments },
  ] = await Promise.all([
    import('#src/app/sources/node.ts'),
    import('#src/app/ordering/all-audits.ts'),
    import('#kernel/pg/served-network.ts'),
    import('#wallet/public-wallet.ts'),
    import('#src/app/backups/held/held-payments.ts'),
  ]);
  await withService(context, async (pool) => {
    const network = await servedNetwork(pool);
    if (network === null)
      throw new AppError('audit_impossible', 'The database has no orders, because it serves no network yet.');
    await withNodeOf(context, network, async (node, signal) => {
      const audits = await auditAll({ database: pool, node, signal });
      const wallet = await openPublicWallet(pool);
      const onBlock = (): void => undefined;
      const read = wallet === null ? null : await readHeldPayments({ pool, node, wallet, signal, onBlock });
      const held = read?.held ?? null;
      await tell(context, { ...audits, held });
      requireSame({ ...unmeant(audits), held });
    });
  });
}

interface Found extends FoundByAudits {
  /** Payments on hold after a restore, or null if payments are not on hold. */
  readonly held: HeldPayments | null;
}

async function tell({ flags, print }: CommandContext, found: Found): Promise<void> {
  const texts = {
    ...(await import('#orders/audit/differences.ts')),
    ...(await import('#tokenpay/audit/token-differences.ts')),
    ...(await import('./payouts-held.ts')),
  };
  await print(
    flags['json'] === undefined ? textOf(found, texts) : `${JSON.stringify(shownOf(found, texts))}\n`,
  );
}

type AllTexts = typeof import('#orders/audit/differences.ts') &
  typeof import('#tokenpay/audit/token-differences.ts') &
  typeof import('./payouts-held.ts');

function textOf({ audit, payouts, collections, tokens, held }: Found, all: AllTexts): string {
  const { differences } = all;
  const { orders, differing, balances, funds } = audit;
  const lines = balances.map(
    ({ account, sats }) => `${account.padEnd(10)} ${String(sats).padStart(18)} sats\n`,
  );
  for (const [first, ...others] of Map.groupBy(audit.differences, ({ order }) => order.id).values()) {
    if (first === undefined) continue;
    lines.push(orderLine({ ...first.order, amount: Number(first.order.amount), error: null, stuck: null }));
    for (const difference of [first, ...others])
      lines.push(differenceLines(`${first.order.kind} order, `, difference, differences));
  }
  if (funds.length > 0) lines.push('funds of the operator\n');
  for (const difference of funds)
    lines.push(differenceLines('', difference, { ...differences, ...all.fundDifferences }));
  lines.push(...besideLines({ payouts, collections, tokens }, all));
  if (held !== null) lines.push(all.textOf(held));
  return `${lines.join('')}${orders} ${orders === 1 ? 'order' : 'orders'}, ${differing} differ\n`;
}

/** Lines about data that is audited together with orders. */
function besideLines(
  { payouts, collections, tokens }: Omit<FoundByAudits, 'audit'>,
  all: AllTexts,
): string[] {
  const lines: string[] = [];
  for (const [id, of] of Map.groupBy(payouts, ({ payout }) => payout)) {
    lines.push(`payout ${id}\n`);
    for (const difference of of)
      lines.push(differenceLines('', difference, { ...all.differences, ...all.payoutDifferences }));
  }
  for (const [id, of] of Map.groupBy(collections, ({ collection }) => collection)) {
    lines.push(`collection ${id}\n`);
    for (const difference of of) lines.push(notedLines(difference, all.collectionDifferences));
  }
  if (tokens.length > 0) lines.push('accounts of shops\n');
  for (const difference of tokens) lines.push(notedLines(difference, all.tokenDifferences));
  return lines;
}

function shownOf({ audit, payouts, collections, tokens, held }: Found, all: AllTexts): object {
  const ofFunds = { ...all.differences, ...all.fundDifferences };
  const ofPayouts = { ...all.differences, ...all.payoutDifferences };
  return {
    orders: audit.orders,
    differing: audit.differing,
    balances: Object.fromEntries(audit.balances.map(({ account, sats }) => [account, Number(sats)])),
    differences: audit.differences.map(({ order, ...difference }) => ({
      order: { ...order, amount: Number(order.amount) },
      ...shownDifference(difference, all.differences),
    })),
    ...(held === null ? {} : { held: all.jsonOf(held) }),
    funds: audit.funds.map((difference) => shownDifference(difference, ofFunds)),
    payouts: payouts.map(({ payout, ...difference }) => ({
      payout,
      ...shownDifference(difference, ofPayouts),
    })),
    collections: collections.map(({ noted, found, ...difference }) => ({
      ...difference,
      noted: Number(noted),
      found: Number(found),
      ...all.collectionDifferences[difference.kind],
    })),
    // convert amounts to texts, because amounts of runes may have more digits than a number can hold
    tokens: tokens.map(({ noted, found, ...difference }) => ({
      ...difference,
      noted: String(noted),
      found: String(found),
      ...all.tokenDifferences[difference.kind],
    })),
  };
}

const shownDifference = ({ kind, where, ledger, chain }: OrderDifference, texts: Texts) => ({
  kind,
  where,
  ledger: Number(ledger),
  chain: Number(chain),
  ...texts[kind],
});

/** Throws `audit_differs`, with the differences, if there are any. */
function requireSame({
  audit: { orders, differing, funds },
  payouts,
  collections,
  tokens,
  held,
}: Found): void {
  if (differing > 0)
    throw new AppError('audit_differs', `${differing} of ${orders} orders differ from the chain.`);
  if (funds.length > 0)
    throw new AppError('audit_differs', 'The funds of the operator differ from the chain.');
  if (payouts.length > 0) throw new AppError('audit_differs', 'Payouts differ from the chain.');
  if (collections.length > 0)
    throw new AppError('audit_differs', 'Collections differ from their items and orders.');
  if (tokens.length > 0)
    throw new AppError('audit_differs', 'Accounts of shops differ from their incoming payments.');
  const unknown = held === null ? 0 : held.bookings.length + held.unexplained.length;
  if (unknown > 0)
    throw new AppError(
      'audit_differs',
      `The chain has ${unknown} transactions of the wallet that the restored backup does not know. Run satscribe payouts held.`,
    );
}

type TextsOf<Kind extends string> = Readonly<
  Record<Kind, { readonly what: string; readonly action: string }>
>;
type Texts = TextsOf<OrderDifference['kind']>;

function differenceLines(of: string, { kind, where, ledger, chain }: OrderDifference, texts: Texts): string {
  const { what, action } = texts[kind];
  const place = where === null ? '' : ` ${where}`;
  return `  ${of}${kind}${place}: ledger ${ledger}, chain ${chain} (${what})
    what to do: ${action}
`;
}

function notedLines<Kind extends string>(
  {
    kind,
    where,
    noted,
    found,
  }: {
    readonly kind: Kind;
    readonly where: string | null;
    readonly noted: bigint;
    readonly found: bigint;
  },
  texts: TextsOf<Kind>,
): string {
  const { what, action } = texts[kind];
  const place = where === null ? '' : ` ${where}`;
  return `  ${kind}${place}: noted ${noted}, found ${found} (${what})
    what to do: ${action}
`;
}
