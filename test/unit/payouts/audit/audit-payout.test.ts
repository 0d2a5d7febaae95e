import { expect, test } from 'vitest';
import { type AuditedPayout, auditPayout, questionsOfPayout } from '#payouts/audit/audit-payout.ts';
import { payoutEntries } from '#payouts/payout/payout-entries.ts';

const txid = '11'.repeat(32);
const other = '22'.repeat(32);
const own = `5120${'aa'.repeat(32)}`;
const script = Buffer.from(`5120${'bb'.repeat(32)}`, 'hex');
const shares = [
  { account: 'referral', owner: 'one', script, sats: 700n },
  { account: 'referral', owner: 'two', script, sats: 300n },
] as const;
const made = (id: string, height: number | null, input = `${'99'.repeat(32)}:0`) => ({
  txid: id,
  height,
  plan: {
    inputs: [{ outpoint: input, value: 10_000, script: own, keyIndex: 1 }],
    outputs: [
      { kind: 'change' as const, value: 8_800, script: own },
      { kind: 'payout' as const, value: 1_000, script: script.toString('hex') },
    ],
  },
});
const entriesOf = (id: string, of: readonly (typeof shares)[number][] = shares) =>
  payoutEntries(of, [{ txid: Buffer.from(id, 'hex') as never, fee: 200n, height: 1 }]);
const change = (id: string) => ({ outpoint: `${id}:0`, value: 8_800n, script: own });
const listed = [{ ...change(txid), isFree: true, isInBlock: true }];
const unspent = new Map([[`${txid}:0`, change(txid)]]);
const paid: AuditedPayout = {
  id: 'a payout',
  isOfAccounts: false,
  shares,
  transactions: [made(txid, 100)],
  entries: entriesOf(txid),
  listed,
  spent: [],
};
const found = (payout: AuditedPayout, there = unspent) =>
  auditPayout(payout, there).map(({ kind, where, ledger, chain }) => [
    kind,
    where,
    Number(ledger),
    Number(chain),
  ]);

test('a batch that joins coins of accounts leaves coins that are not free', () => {
  const plan = {
    inputs: [{ outpoint: `${'99'.repeat(32)}:0`, value: 9_000, script: own, keyIndex: 1 }],
    outputs: [{ kind: 'change' as const, value: 8_800, script: own }],
  };
  const joined = {
    ...paid,
    isOfAccounts: true,
    shares: [],
    transactions: [{ txid, height: 100, plan }],
    entries: entriesOf(txid, []),
    listed: [{ ...change(txid), isFree: false, isInBlock: true }],
  };
  expect(found(joined)).toEqual([]);
  expect(found({ ...joined, listed })).toEqual([['holder', `${txid}:0`, 8_800, 8_800]]);
  expect(found({ ...joined, entries: [] })).toEqual([['not-counted', txid, 0, 9_000]]);
});

test('a payout has no difference before it is made, once it is made, and once a block has it', () => {
  expect(found({ ...paid, transactions: [], entries: [], listed: [] })).toEqual([]);
  const coming = { ...paid, transactions: [made(txid, null)], entries: [] };
  expect(found({ ...coming, listed: [{ ...listed[0]!, isInBlock: false }] }, new Map())).toEqual([]);
  expect(found(paid)).toEqual([]);
  // a transaction of ours spends the payout's change
  expect(found({ ...paid, spent: [`${txid}:0`] }, new Map())).toEqual([]);
  // right after an upgrade, not all coins are listed yet
  expect(found({ ...paid, listed: null })).toEqual([]);
});

test('the node is asked about change, and about all outputs of transactions that a block may have', () => {
  expect(questionsOfPayout(paid)).toEqual([`${txid}:0`]);
  // the two transactions share an input, so a block has at most one of them
  expect(questionsOfPayout({ ...paid, transactions: [made(txid, 100), made(other, null)] })).toEqual([
    `${txid}:0`,
  ]);
  const apart = made(other, null, `${'88'.repeat(32)}:0`);
  expect(questionsOfPayout({ ...paid, transactions: [made(txid, 100), apart] })).toEqual([
    `${txid}:0`,
    `${other}:0`,
    `${other}:1`,
  ]);
});

test('transactions that the ledger does not count, or counts without a block, differ', () => {
  expect(found({ ...paid, entries: [] })).toEqual([['not-counted', txid, 0, 10_000]]);
  // the node may know a block before the payments do
  expect(found({ ...paid, transactions: [made(txid, null)], entries: [] })).toEqual([
    ['not-counted', txid, 0, 10_000],
  ]);
  expect(found({ ...paid, transactions: [made(txid, null)] }, new Map())).toEqual([
    ['not-mined', txid, 1_200, 0],
    ['not-there', `${txid}:0`, 8_800, 0],
  ]);
  // a correction takes the entries back
  const back = paid.entries.map((entry) => ({
    ...entry,
    from: entry.to,
    fromOwner: entry.toOwner,
    to: entry.from,
    toOwner: entry.fromOwner,
  }));
  const gone = { ...paid, transactions: [made(txid, null)], listed: [] };
  expect(found({ ...gone, entries: [...paid.entries, ...back] }, new Map())).toEqual([]);
});

test('a share that is booked twice, or not at all, differs, and so does an output', () => {
  expect(found({ ...paid, entries: [...paid.entries, paid.entries[0]!] })).toEqual([
    ['paid', `${txid} referral one`, 1_400, 700],
    ['paid', txid, 1_700, 1_000],
  ]);
  expect(found({ ...paid, entries: entriesOf(txid, shares.slice(0, 1)) })).toEqual([
    ['paid', `${txid} referral two`, 0, 300],
    ['paid', txid, 700, 1_000],
  ]);
  const [only] = paid.transactions;
  const [first, second] = only!.plan.outputs;
  const less = { ...only!, plan: { ...only!.plan, outputs: [first!, { ...second!, value: 900 }] } };
  expect(found({ ...paid, transactions: [less] })).toEqual([
    ['paid', `${txid} ${script.toString('hex')}`, 1_000, 900],
    ['paid', txid, 1_000, 900],
    ['fee', txid, 200, 300],
  ]);
});

test('a share of a creator that is booked from a code of the same name differs', () => {
  const ofCreators = shares.map((share) => ({ ...share, account: 'creator' as const }));
  const sold = { ...paid, shares: ofCreators };
  const entriesOfCreators = paid.entries.map((entry) =>
    entry.from === 'referral' ? { ...entry, from: 'creator' as const } : entry,
  );
  expect(found({ ...sold, entries: entriesOfCreators })).toEqual([]);
  expect(found(sold)).toEqual([
    ['paid', `${txid} creator one`, 0, 700],
    ['paid', `${txid} creator two`, 0, 300],
  ]);
});

test('two of one payout in blocks differ', () => {
  const twice = [made(txid, 100), made(other, 101, `${'88'.repeat(32)}:0`)];
  const both = new Map([...unspent, [`${other}:0`, change(other)]]);
  expect(
    found(
      {
        ...paid,
        transactions: twice,
        entries: [...paid.entries, ...entriesOf(other)],
        listed: [...listed, { ...change(other), isFree: true, isInBlock: true }],
      },
      both,
    ),
  ).toEqual([['paid', null, 1_000, 2_000]]);
});

test('change that is gone, not listed or not free differs', () => {
  expect(found(paid, new Map())).toEqual([['missing', `${txid}:0`, 8_800, 0]]);
  expect(found({ ...paid, listed: [] })).toEqual([['unlisted', `${txid}:0`, 0, 8_800]]);
  expect(found({ ...paid, listed: [{ ...listed[0]!, isFree: false }] })).toEqual([
    ['holder', `${txid}:0`, 8_800, 8_800],
  ]);
});
