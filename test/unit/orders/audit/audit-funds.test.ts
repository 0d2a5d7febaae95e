import { expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { auditFunds, questionsOfFunds } from '#orders/audit/audit-funds.ts';
import { fundEntries } from '#orders/funds/book-funds.ts';
import type { FundCoin } from '#orders/funds/fund-coins.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';

const script = Buffer.from(`5120${'11'.repeat(32)}`, 'hex');
const coin = (byte: number, more: Partial<FundCoin> = {}): FundCoin => ({
  txid: trustedTxid(Buffer.alloc(32, byte)),
  vout: 0,
  value: 1000n,
  script,
  height: 100,
  spending: null,
  ...more,
});
const unspent = (coins: readonly FundCoin[]) =>
  new Map(
    coins.map((each) => {
      const outpoint = outpointOf(each);
      return [outpoint, { outpoint, value: each.value, script: script.toString('hex') }];
    }),
  );

const free = coin(1);
const spending = coin(2, { spending: 'stored' });
const spent = coin(3, { spending: 'mined' });
const coming = coin(4, { height: null });
const coins = [free, spending, spent, coming];
const listed = new Set(coins.map(outpointOf));

test('funds of the operator match the chain if all are booked, and unspent except by our transactions', () => {
  const funds = { coins, entries: fundEntries(coins), listed };
  expect(questionsOfFunds(funds)).toEqual([free, spending].map(outpointOf));
  expect(auditFunds(funds, unspent([free, spending]))).toEqual([]);
});

test('funds differ if they are not booked, booked twice, or spent by another wallet', () => {
  const entries = fundEntries(coins);
  const there = unspent([free, spending]);
  const sums = { kind: 'received', where: null, chain: 3000n };
  expect(auditFunds({ coins, listed, entries: entries.slice(1) }, there)).toEqual([
    { ...sums, ledger: 2000n },
  ]);
  expect(auditFunds({ coins, listed, entries: [...entries, ...entries.slice(0, 1)] }, there)).toEqual([
    { ...sums, ledger: 4000n },
  ]);
  expect(auditFunds({ coins, listed, entries }, unspent([spending]))).toEqual([
    { kind: 'missing', where: outpointOf(free), ledger: 1000n, chain: 0n },
  ]);
});

test('funds in blocks differ if the table of coins lacks them', () => {
  const funds = { coins, entries: fundEntries(coins), listed: new Set([outpointOf(spending)]) };
  expect(auditFunds(funds, unspent([free, spending]))).toEqual([
    { kind: 'unlisted', where: outpointOf(free), ledger: 0n, chain: 1000n },
  ]);
  // right after an upgrade, not all coins are listed yet
  expect(auditFunds({ ...funds, listed: null }, unspent([free, spending]))).toEqual([]);
});
