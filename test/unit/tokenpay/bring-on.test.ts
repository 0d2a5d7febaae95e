import type pg from 'pg';
import { expect, test } from 'vitest';
import { bringOn } from '#tokenpay/following/bring-on.ts';

/** Without rows, and with the statements that it was sent. */
class EmptyDatabase {
  readonly statements: string[] = [];

  async query(sent: string | { readonly text: string }): Promise<{ rows: object[]; rowCount: number }> {
    this.statements.push(typeof sent === 'string' ? sent : sent.text);
    return { rows: [], rowCount: 0 };
  }
}

test('what is known is read before the payments: one that comes in between is not missed by an order that ends', async () => {
  const database = new EmptyDatabase();
  const policy = { confirmations: 1, byRune: new Map(), special: () => [] };
  await bringOn(database as unknown as pg.ClientBase, ['id'], policy, new Date(0));
  const first = (table: string): number => database.statements.findIndex((text) => text.includes(table));
  const [offset, payments] = [first('service.payments_offset'), first('service.payments_seen')];
  expect(offset).toBeGreaterThanOrEqual(0);
  expect(payments).toBeGreaterThan(offset);
});
