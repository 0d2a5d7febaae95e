import type pg from 'pg';
import { activeKeys } from '#accounts/active-key.queries.ts';
import type { ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { BumpBudgets } from '#orders/bumping/budgets.ts';
import { recordAction } from './actions/actions.store.ts';
import { AuditRuns, type AuditRunsParts } from './actions/audit-runs.ts';
import {
  type ActionAnswer,
  type ActionName,
  ConsoleActions,
  type ConsoleActionsParts,
} from './actions/console-actions.ts';
import type { ActionFields } from './actions/operator-action.ts';
import { sendAgain } from './actions/send-again.ts';
import {
  type ConsoleSession,
  endSessions,
  formTokenOf,
  openSession,
  useSession,
} from './sessions/sessions.store.ts';
import { checkTypedKey } from './sessions/sign-in.ts';
import { auditSheet } from './sheets/audit-sheet.ts';
import { coinsSheet } from './sheets/coins-sheet.ts';
import { collectionSheet, collectionsSheet } from './sheets/collections-sheet.ts';
import type { SheetQuery } from './sheets/list-pages.ts';
import { orderSheet } from './sheets/order-sheet.ts';
import { ordersSheet } from './sheets/orders-sheet.ts';
import { overviewSheet } from './sheets/overview-sheet.ts';
import { payoutsSheet } from './sheets/payouts-sheet.ts';
import { sessionsSheet } from './sheets/sessions-sheet.ts';
import { shopsSheet } from './sheets/shops-sheet.ts';
import { webhooksSheet } from './sheets/webhooks-sheet.ts';
import { withdrawalsSheet } from './sheets/withdrawals-sheet.ts';

/** Pages without an id, by the last part of their path. */
const lists = {
  orders: ordersSheet,
  payouts: payoutsSheet,
  withdrawals: withdrawalsSheet,
  shops: shopsSheet,
  collections: collectionsSheet,
  webhooks: webhooksSheet,
  coins: coinsSheet,
  audit: auditSheet,
} as const;
type ListName = keyof typeof lists;
export const listNames = Object.keys(lists) as ListName[];

export interface OperatorConsoleParts extends ConsoleActionsParts, AuditRunsParts {
  readonly pool: pg.Pool;
  /** Maximum costs of bumps, for the overview. */
  readonly bumpBudgets: BumpBudgets;
}

/** The operator's console: sessions, pages and actions (docs/console.md). */
export class OperatorConsole {
  readonly #parts: OperatorConsoleParts;
  readonly #actions: ConsoleActions;
  readonly #audits: AuditRuns;

  constructor(parts: OperatorConsoleParts) {
    this.#parts = parts;
    this.#actions = new ConsoleActions(parts);
    this.#audits = new AuditRuns(parts);
  }

  /** Opens a session for a typed key, and returns the secret of its cookie. Throws the errors of `checkTypedKey`. */
  async signIn(typed: string, client: string): Promise<string> {
    const key = await checkTypedKey(this.#parts, typed, client);
    return openSession(this.#parts.pool, key.id, client);
  }

  /** The session of a cookie. Null: it ended, or its key was revoked. */
  async session(secret: string): Promise<ConsoleSession | null> {
    const found = await useSession(this.#parts.pool, secret);
    if (found === null) return null;
    const [key] = await activeKeys(this.#parts.pool, 'admin', [found.keyId]);
    return key === undefined ? null : { id: found.id, key, formToken: formTokenOf(secret) };
  }

  async signOut({ id }: ConsoleSession): Promise<void> {
    await endSessions(this.#parts.pool, id);
  }

  /** Ends the sessions of all operators. Returns their number. */
  async endAllSessions(session: ConsoleSession): Promise<number> {
    return withTransaction(this.#parts.pool, async (tx) => {
      const ended = await endSessions(tx, null);
      const result = `${ended} sessions ended.`;
      await recordAction(tx, session, {
        action: 'sessions-end-all',
        target: 'all sessions',
        parameters: {},
        result,
      });
      return ended;
    });
  }

  /** Sends the messages of a subject again, and shows them. Throws `webhooks_unknown`. */
  async sendAgain(session: ConsoleSession, subject: string): Promise<ConsoleSheet> {
    const { pool } = this.#parts;
    const result = await sendAgain(pool, session, subject);
    const { title, parts } = await webhooksSheet(pool, { subject });
    return { title, parts: [{ kind: 'words', words: [result] }, ...parts] };
  }

  /** The page that asks for the values or the confirmation of an action. Changes nothing. */
  askAction(session: ConsoleSession, name: ActionName, fields: ActionFields): Promise<ActionAnswer> {
    return this.#actions.ask(session, name, fields);
  }

  /** Does an action that was confirmed with the key of the operator. */
  act(
    session: ConsoleSession,
    name: ActionName,
    fields: ActionFields,
    client: string,
  ): Promise<ActionAnswer> {
    return this.#actions.act(session, name, fields, client);
  }

  /** Starts an audit, and shows the page of audits. */
  async audit(session: ConsoleSession): Promise<ConsoleSheet> {
    const started = await this.#audits.start(session);
    const { title, parts } = await this.list('audit', {});
    return { title, parts: [{ kind: 'words', words: [started] }, ...parts] };
  }

  /** Settles when no audit of the console runs. */
  auditEnded(): Promise<void> {
    return this.#audits.ended();
  }

  overview(): Promise<ConsoleSheet> {
    return overviewSheet(this.#parts.pool, this.#parts.bumpBudgets);
  }

  async list(name: ListName, query: SheetQuery): Promise<ConsoleSheet> {
    const sheet = await lists[name](this.#parts.pool, query);
    return name === 'audit' ? { ...sheet, parts: [...sheet.parts, this.#audits.shown()] } : sheet;
  }

  /** Throws `order_unknown`. */
  order(id: string): Promise<ConsoleSheet> {
    return orderSheet(this.#parts.pool, id);
  }

  /** Throws `mint_unknown`. */
  collection(id: string): Promise<ConsoleSheet> {
    return collectionSheet(this.#parts.pool, id);
  }

  sessionsSheet(session: ConsoleSession): Promise<ConsoleSheet> {
    return sessionsSheet(this.#parts.pool, session);
  }
}
