import { AppError } from '#kernel/errors/app-error.ts';
import type { Audit } from '#orders/audit/audit-orders.ts';
import type { OrderDifference } from '#orders/audit/audited-order.ts';
import type { PayoutDifference } from '#payouts/audit/audit-payouts.ts';
import type { Command, CommandContext } from '#src/app/command-context.ts';
import { settingFlag } from '#src/commands/flags.ts';
import { jsonFlag, withService } from '#src/commands/service-database.ts';
import { orderLine } from './orders.ts';

export const auditCommand: Command = {
  name: 'audit',
  object: null,
  summary: 'prove the ledger of the orders against the chain and the index',
  details: `Compares each order with what blocks have: payments, the outputs that must lie unspent at scripts of the
wallet, transactions, fees, refunds, and where the index has what was delivered; and each payout with what it
paid. Needs the node, and an index
at its tip. Changes nothing, and may run beside a service. On a difference the exit code is 1; each is named
with its order and what to do (docs/orders.md, "Audit"). An order id is as good as a key to the order.

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
  // loaded here, so that help and usage errors do not load all of it
  const [{ withNodeOf }, { auditOrders }, { auditPayouts }, { servedNetwork }] = await Promise.all([
    import('#src/app/sources/node.ts'),
    import('#orders/audit/audit-orders.ts'),
    import('#payouts/audit/audit-payouts.ts'),
    import('#kernel/pg/served-network.ts'),
  ]);
  await withService(context, async (pool) => {
    const network = await servedNetwork(pool);
    if (network === null)
      throw new AppError('audit_impossible', 'The database serves no network yet: it has no orders.');
    await withNodeOf(context, network, async (node, signal) => {
      const parts = { database: pool, node, signal };
      await tell(context, await auditOrders(parts), await auditPayouts(parts));
    });
  });
}

async function tell(
  { flags, print }: CommandContext,
  audit: Audit,
  payouts: readonly PayoutDifference[],
): Promise<void> {
  const { differences, fundDifferences, payoutDifferences } = await import('#orders/audit/differences.ts');
  const ofFunds = { ...differences, ...fundDifferences };
  const ofPayouts = { ...differences, ...payoutDifferences };
  const { orders, differing, balances, funds } = audit;
  const byOrder = Map.groupBy(audit.differences, ({ order }) => order.id);
  if (flags['json'] === undefined) {
    const lines = balances.map(
      ({ account, sats }) => `${account.padEnd(10)} ${String(sats).padStart(18)} sats\n`,
    );
    for (const [first, ...others] of byOrder.values()) {
      if (first === undefined) continue;
      lines.push(orderLine({ ...first.order, amount: Number(first.order.amount), error: null, stuck: null }));
      for (const difference of [first, ...others])
        lines.push(differenceLines(`${first.order.kind} order, `, difference, differences));
    }
    if (funds.length > 0) lines.push('funds of the operator\n');
    for (const difference of funds) lines.push(differenceLines('', difference, ofFunds));
    for (const [id, of] of Map.groupBy(payouts, ({ payout }) => payout)) {
      lines.push(`payout ${id}\n`);
      for (const difference of of) lines.push(differenceLines('', difference, ofPayouts));
    }
    await print(`${lines.join('')}${orders} ${orders === 1 ? 'order' : 'orders'}, ${differing} differ\n`);
  } else {
    const shown = {
      orders,
      differing,
      balances: Object.fromEntries(balances.map(({ account, sats }) => [account, Number(sats)])),
      differences: audit.differences.map(({ order, kind, where, ledger, chain }) => ({
        order: { ...order, amount: Number(order.amount) },
        kind,
        where,
        ledger: Number(ledger),
        chain: Number(chain),
        ...differences[kind],
      })),
      funds: funds.map(({ kind, where, ledger, chain }) => ({
        kind,
        where,
        ledger: Number(ledger),
        chain: Number(chain),
        ...ofFunds[kind],
      })),
      payouts: payouts.map(({ payout, kind, where, ledger, chain }) => ({
        payout,
        kind,
        where,
        ledger: Number(ledger),
        chain: Number(chain),
        ...ofPayouts[kind],
      })),
    };
    await print(`${JSON.stringify(shown)}\n`);
  }
  requireSame(audit, payouts);
}

/** Throws `audit_differs`, with what differs. */
function requireSame({ orders, differing, funds }: Audit, payouts: readonly PayoutDifference[]): void {
  if (differing > 0)
    throw new AppError('audit_differs', `${differing} of ${orders} orders differ from the chain.`);
  if (funds.length > 0)
    throw new AppError('audit_differs', 'The funds of the operator differ from the chain.');
  if (payouts.length > 0) throw new AppError('audit_differs', 'Payouts differ from the chain.');
}

type Texts = Readonly<Record<OrderDifference['kind'], { readonly what: string; readonly action: string }>>;

function differenceLines(of: string, { kind, where, ledger, chain }: OrderDifference, texts: Texts): string {
  const { what, action } = texts[kind];
  const place = where === null ? '' : ` ${where}`;
  return `  ${of}${kind}${place}: ledger ${ledger}, chain ${chain} (${what})
    do: ${action}
`;
}
