import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type KeepAuditingOptions, keepAuditing } from '#orders/audit/keep-auditing.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';

/** Audits orders for the life of the process, where it brings them on. */
export function startAudits(
  { config, health, lifecycle, logger }: CommandContext,
  database: Database,
  node: NodeRpc,
): void {
  if (lifecycle.signal.aborted || config.walletSeedFile === undefined) return;
  const log = logger.child({ part: 'audit' });
  const onAudit: KeepAuditingOptions['onAudit'] = (audit) => {
    if (audit === null || audit.differing === 0) {
      health.report('audit', null);
      return;
    }
    const { orders, differing } = audit;
    const message = `${differing} of ${orders} orders differ from the chain: satscribe audit names them.`;
    health.report('audit', new AppError('audit_differs', message));
  };
  lifecycle
    .run('audit', (signal) => keepAuditing({ url: database.url, node, signal, log, onAudit }))
    .catch((error: unknown) => {
      // orders are brought on without it; its age tells
      if (!(error instanceof AppError)) lifecycle.fail(error);
      else log.error({ code: error.code, err: error }, 'orders are no longer audited');
    });
}
