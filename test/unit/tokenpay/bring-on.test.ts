import type pg from 'pg';
import { expect, test } from 'vitest';
import { bringOn } from '#tokenpay/following/bring-on.ts';

/** A database without rows. It records the statements that it receives. */
class EmptyDatabase {
  readonly statements: string[] = [];

  async query(sent: string | { readonly text: string }): Promise<{ rows: object[]; rowCount: number }> {
    this.statements.push(typeof sent === 'string' ? sent : sent.text);
    return { rows: [], rowCount: 0 };
  }
}

test('known data is read before the payments: an order that ends does not miss a payment that arrives in between', async () => {
  const database = new EmptyDatabase();
  const policy = { confirmations: 1, byRune: new Map(), special: () => [] };
  await bringOn(database as unknown as pg.ClientBase, ['id'], policy, new Date(0));
  const first = (table: string): number => database.statements.findIndex((text) => text.includes(table));
  const [offset, payments] = [first('service.payments_offset'), first('service.payments_seen')];
  expect(offset).toBeGreaterThanOrEqual(0);
  expect(payments).toBeGreaterThan(offset);
});
