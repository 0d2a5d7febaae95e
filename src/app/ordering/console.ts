import { KeyLookUps } from '#accounts/key-look-ups.ts';
import { lease } from '#accounts/lease.store.ts';
import { RateLimiter } from '#accounts/rate-limiter.ts';
import type { AuditResult } from '#console/actions/audit-runs.ts';
import { OperatorConsole } from '#console/operator-console.ts';
import type { BatchRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { createPool } from '#kernel/pg/pool.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import { auditAll, type FoundByAudits, unmeant } from './all-audits.ts';
import { bumpPolicyOf, proveFree } from './bump-parts.ts';
import { requireNotOwn } from './foreign-destination.ts';
import { openMint } from './mint.ts';
import { requirePayoutDepth } from './network-settings.ts';

/** Maximum number of connections: some operators read pages, and one of them acts. */
const connectionsMax = 4;
/** How long a statement may take, in ms. The list of money that is owed reads the whole ledger. */
const statementTimeoutMs = 60_000;

/**
 * The operator's console, with the rights of the role that owns the tables. Null: it is switched off, or the process
 * has a role that answers with the rights of the reader alone.
 *
 * @param node the node of the settings; null: this process has none
 */
export function openConsole(
  context: CommandContext,
  { url, readers }: Pick<Database, 'url' | 'readers'>,
  node: BatchRpc | null,
): OperatorConsole | null {
  const { config, lifecycle, logger } = context;
  if (!config.console || (config.role !== 'all' && config.role !== 'orders')) return null;
  const log = logger.child({ part: 'console' });
  const pool = createPool(url, {
    applicationName: 'satscribe console',
    max: connectionsMax,
    statementTimeoutMs,
    onError: (error) => log.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('console connections', () => pool.end());
  const limiter = new RateLimiter({ lease: (asks) => lease(pool, asks) });
  lifecycle.add('limit of typed keys', () => limiter.close());
  return new OperatorConsole({
    pool,
    keys: new KeyLookUps(pool, 0),
    limiter,
    log,
    bumpBudgets: bumpPolicyOf(config),
    confirmations: config.payoutConfirmations,
    requirePayoutDepth: (network) => requirePayoutDepth(config, network),
    // connections of their own, because an action holds a connection while its coins are read
    proveFree: proveFree(readers),
    requireForeign: async (wallet, destination) => {
      const { signal } = lifecycle;
      await requireNotOwn({ node: requireNode(node), wallet, signal, pool }, destination);
    },
    approval: { ...openMint(context, pool), signal: lifecycle.signal },
    audit:
      node === null
        ? null
        : async () => {
            const { signal } = lifecycle;
            return resultOf(unmeant(await auditAll({ database: pool, node, signal })));
          },
  });
}

function requireNode(node: BatchRpc | null): BatchRpc {
  if (node !== null) return node;
  throw new AppError(
    'node_unreachable',
    'This process has no node, so it cannot check whether the address is one of the wallet. Use the command.',
  );
}

const resultOf = ({ audit, payouts, collections, tokens }: FoundByAudits): AuditResult => ({
  orders: audit.orders,
  kinds: [...audit.differences, ...audit.funds, ...payouts, ...collections, ...tokens].map(
    ({ kind }) => kind,
  ),
});
