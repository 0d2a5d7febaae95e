import type pg from 'pg';
import { expect, test } from 'vitest';
import type { MadeBatch } from '#payouts/following/payout-parts.ts';
import { endRefused } from '#withdrawals/end-batch.ts';

test('a batch that was signed before says why it is not planned again', async () => {
  const given = { payout: { id: 'batch' }, transactions: [{}] } as unknown as MadeBatch;
  const refused = [{ id: 'one', refusal: { code: 'amount' } as const }];
  // none of the withdrawals ends, so the database is not used
  const client = null as unknown as pg.ClientBase;
  expect(await endRefused(client, given, { plan: null, waiting: [], refused })).toBe(
    'No withdrawal of the batch can be sent, because its amount cannot be withdrawn.',
  );
});
