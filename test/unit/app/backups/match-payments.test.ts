import { describe, expect, test } from 'vitest';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import type { Payout } from '#payouts/payout/payout.ts';
import type { FoundInput, FoundTransaction } from '#src/app/backups/held/found-transaction.ts';
import { type OwedPartner, sharesOf } from '#src/app/backups/held/match-partners.ts';
import { matchPayments, type UnitsOfRunes } from '#src/app/backups/held/match-payments.ts';
import type { OpenPayments, OpenPayout, Payee } from '#src/app/backups/held/open-payments.ts';

const own = (index: number): WalletKey => ({ branch: 1, index });

const input = (outpoint: string, more: Partial<FoundInput> = {}): FoundInput => ({
  outpoint,
  value: 100_000n,
  script: 'aa',
  key: own(1),
  coin: null,
  ...more,
});

type Paid = readonly [script: string, sats: bigint, key?: WalletKey];

const found = (
  txid: string,
  outputs: readonly Paid[],
  more: Partial<FoundTransaction> = {},
): FoundTransaction => ({
  txid,
  height: 10,
  hex: '',
  inputs: [input(`${txid}-coin:0`)],
  outputs: outputs.map(([script, value, key = null]) => ({ value, script, address: script, key })),
  ...more,
});

const payee = (script: string, sats: bigint, withdrawal: string | null = null): Payee => ({
  script,
  address: script,
  sats,
  rune: null,
  withdrawal,
});

const payoutRow = (id: string, more: Partial<Payout> = {}): Payout => ({
  id,
  kind: 'referral',
  state: 'asked',
  ownIndex: null,
  stuck: null,
  spends: null,
  feeRate: null,
  missingSince: null,
  ...more,
});

const payout = (id: string, payees: readonly Payee[], more: Partial<OpenPayout> = {}): OpenPayout => ({
  payout: payoutRow(id),
  payees,
  family: null,
  spends: new Set(),
  ...more,
});

const open = (more: Partial<OpenPayments>): OpenPayments => ({ payouts: [], withdrawals: [], ...more });
const match = (
  made: readonly FoundTransaction[],
  payments: OpenPayments,
  units: ReadonlyMap<string, UnitsOfRunes> = new Map(),
) => {
  const { bookings, unsure, unexplained } = matchPayments(made, payments, units);
  return {
    booked: bookings.map((each) => [
      each.found.txid,
      each.open?.payout.id ?? null,
      each.isReplacement,
      each.paid.map(({ payee: of }) => of?.withdrawal ?? of?.script ?? null),
    ]),
    unsure: unsure.map((each) => [each.found.txid, each.payout ?? each.payee.withdrawal, each.why]),
    unexplained: unexplained.map(({ txid }) => txid),
  };
};

describe('found transactions beside open payments', () => {
  test('book a payout that a transaction pays exactly, once', () => {
    const payouts = [payout('p', [payee('b1', 500n), payee('b2', 700n)])];
    const exact = found('x', [
      ['cc', 9n, own(7)],
      ['b1', 500n],
      ['b2', 700n],
    ]);
    const again = found('y', [
      ['b1', 500n],
      ['b2', 700n],
    ]);
    expect(match([exact, again], open({ payouts }))).toEqual({
      booked: [['x', 'p', false, ['b1', 'b2']]],
      unsure: [],
      unexplained: ['y'],
    });
  });

  test('do not book a payout that a transaction pays with others, in part, or with other sats', () => {
    const payouts = [payout('p', [payee('b1', 500n), payee('b2', 700n)])];
    const part = found('part', [['b1', 500n]]);
    const more = found('more', [
      ['b1', 500n],
      ['b2', 700n],
      ['b3', 1n],
    ]);
    const less = found('less', [
      ['b1', 499n],
      ['b2', 701n],
    ]);
    expect(match([part, more, less], open({ payouts }))).toEqual({
      booked: [],
      unsure: [
        ['part', 'p', 'others'],
        ['more', 'p', 'others'],
        ['more', 'p', 'others'],
        ['less', 'p', 'amount'],
        ['less', 'p', 'amount'],
      ],
      unexplained: ['part', 'more', 'less'],
    });
  });

  test('book the withdrawals of a batch, and name outputs that the backup does not know', () => {
    const withdrawals = [payee('b1', 500n, 'w1'), payee('b1', 500n, 'w2'), payee('b2', 9n, 'w3')];
    const batch = found('x', [
      ['b1', 500n],
      ['b9', 3n],
      ['b2', 9n],
      ['cc', 1n, own(3)],
      ['cc', 2n, own(3)],
    ]);
    expect(match([batch], open({ withdrawals }))).toEqual({
      booked: [['x', null, false, ['w1', null, 'w3']]],
      unsure: [],
      unexplained: [],
    });
  });

  test('book a withdrawal of runes only with its runes', () => {
    const withdrawals = [{ ...payee('b1', 546n, 'w1'), rune: { id: '5:1', units: 50n } }];
    const made = found('x', [
      ['6a5d', 0n],
      ['b1', 546n],
    ]);
    const units = (amount: bigint) => new Map([['x:1', new Map([['5:1', amount]])]]);
    expect(match([made], open({ withdrawals }), units(50n)).booked).toEqual([['x', null, false, ['w1']]]);
    expect(match([made], open({ withdrawals }), units(49n))).toMatchObject({
      booked: [],
      unsure: [['x', 'w1', 'runes']],
    });
    expect(match([made], open({ withdrawals }))).toMatchObject({
      booked: [],
      unsure: [['x', 'w1', 'runes']],
    });
  });

  test('do not book a delivery of an order that looks like a withdrawal', () => {
    const withdrawals = [payee('b1', 10_000n, 'w1')];
    const coin = { key: own(1), kind: 'order', held: 'reserved', subject: 'o' } as const;
    const made = found('x', [['b1', 10_000n]], { inputs: [input('a:0', { coin })] });
    expect(match([made], open({ withdrawals }))).toMatchObject({ booked: [], unexplained: ['x'] });
  });

  test('are not booked while they are in no block, or if others signed a part', () => {
    const withdrawals = [payee('b1', 500n, 'w1')];
    const unmined = found('x', [['b1', 500n]], { height: null });
    const foreign = found('y', [['b1', 500n]], { inputs: [input('a:0'), input('b:0', { key: null })] });
    const changes = found('z', [
      ['b1', 500n],
      ['c1', 1n, own(1)],
      ['c2', 1n, own(2)],
    ]);
    expect(match([unmined, foreign, changes], open({ withdrawals }))).toEqual({
      booked: [],
      unsure: [
        ['x', 'w1', 'unmined'],
        ['y', 'w1', 'foreign'],
        ['z', 'w1', 'change'],
      ],
      unexplained: ['x', 'y', 'z'],
    });
  });

  test('are unmined if a release would book them in a block, or if they spend a coin of a signed payout', () => {
    const unminedOf = (made: FoundTransaction, payments = open({})) => {
      const { bookings, unmined, unexplained } = matchPayments([made], payments, new Map());
      expect([bookings, unexplained]).toEqual([[], [made]]);
      return unmined.map(({ txid }) => txid);
    };
    const family = trustedTxid(new Uint8Array(32));
    const signed = payout('p', [payee('b1', 500n)], { family, spends: new Set(['a:0']) });
    const more = { height: null, inputs: [input('a:0')] };
    expect(unminedOf(found('same', [['b1', 500n]], more), open({ payouts: [signed] }))).toEqual(['same']);
    expect(unminedOf(found('other', [['b9', 3n]], more), open({ payouts: [signed] }))).toEqual(['other']);
    const coin = { key: own(1), kind: 'payout', held: 'accounts', subject: 'o' } as const;
    const joined = { height: null, inputs: [input('b:0', { coin })] };
    expect(unminedOf(found('joined', [['cc', 8n, own(8)]], joined))).toEqual(['joined']);
    const ofService = { height: null, inputs: [input('b:0', { coin: { ...coin, held: 'free' } })] };
    expect(unminedOf(found('bump', [['cc', 8n, own(8)]], ofService))).toEqual([]);
  });

  test('are unknown payments if the wallet paid with money of accounts or of the service', () => {
    const coin = (held: 'reserved' | 'free' | 'accounts') =>
      ({ key: own(1), kind: 'payout', held, subject: 'o' }) as const;
    const unknownOf = (inputs: readonly FoundInput[], payments = open({})) =>
      matchPayments(
        [
          found(
            'x',
            [
              ['b9', 5n],
              ['cc', 1n, own(7)],
            ],
            { inputs },
          ),
        ],
        payments,
        new Map(),
      ).unknown.map(({ output: { script } }) => script);
    expect(unknownOf([input('a:0', { coin: coin('accounts') })])).toEqual(['b9']);
    expect(unknownOf([input('a:0', { coin: coin('free') })])).toEqual(['b9']);
    // change of another found transaction
    expect(unknownOf([input('a:0')])).toEqual(['b9']);
    // a payment of an order that the backup lacks, a refund of an order, and money of others
    expect(unknownOf([input('a:0', { key: { branch: 0, index: 5 } })])).toEqual([]);
    expect(unknownOf([input('a:0', { coin: coin('reserved') }), input('b:0')])).toEqual([]);
    expect(unknownOf([input('a:0'), input('b:0', { key: null })])).toEqual([]);
    // asked for again
    expect(unknownOf([input('a:0')], open({ withdrawals: [payee('b9', 5n, 'w1')] }))).toEqual([]);
  });

  test('are booked if they spend coins of accounts, because their change belongs to accounts', () => {
    const coin = (held: 'free' | 'accounts') =>
      ({ key: own(1), kind: 'payout', held, subject: 'o' }) as const;
    const ofAccounts = [input('a:0', { coin: coin('accounts') })];
    const unknown = found(
      'x',
      [
        ['b9', 5n],
        ['cc', 9n, own(7)],
      ],
      { inputs: ofAccounts },
    );
    const joined = found('y', [['cc', 8n, own(8)]], { inputs: [input('x:1')] });
    const ofService = found('z', [['cc', 8n, own(8)]], { inputs: [input('b:0', { coin: coin('free') })] });
    expect(match([unknown, joined, ofService], open({}))).toEqual({
      booked: [
        ['x', null, false, [null]],
        ['y', null, false, []],
      ],
      unsure: [],
      unexplained: ['z'],
    });
    // a partner is not paid with coins of accounts, and an account not with coins of the service
    const payouts = [payout('p', [payee('b9', 5n)], { payout: payoutRow('p', { kind: 'withdrawal' }) })];
    const byService = found('z', [['b9', 5n]], { inputs: [input('b:0', { coin: coin('free') })] });
    expect(match([byService], open({ payouts })).booked).toEqual([]);
    expect(match([byService], open({ withdrawals: [payee('b9', 5n, 'w')] })).booked).toEqual([]);
  });

  test('pay partners what they are owed, once, if the database has no payout of it', () => {
    const referral = { account: 'referral', owner: 'code', script: 'b1', address: 'b1', sats: 900n } as const;
    const creator = { account: 'creator', owner: 'b2', script: 'b2', address: 'b2', sats: 70n } as const;
    const sharesPaid = (
      made: readonly FoundTransaction[],
      partners: readonly OwedPartner[],
      payments = open({}),
      units: ReadonlyMap<string, UnitsOfRunes> = new Map(),
    ) => {
      const { bookings, unknown } = matchPayments(made, payments, units, partners);
      return {
        paid: bookings.flatMap(({ found: { txid }, shares }) =>
          shares.map(({ owner, sats }) => [txid, owner, Number(sats)]),
        ),
        unknown: unknown.map(({ found: { txid } }) => txid),
      };
    };
    const coin = { key: own(1), kind: 'payout', held: 'free', subject: 'o' } as const;
    const ofService = { inputs: [input('a:0', { coin })] };
    const paying = (txid: string, outputs: readonly Paid[], more: Partial<FoundTransaction> = ofService) =>
      found(txid, [...outputs, ['cc', 9n, own(7)]], more);
    const first = paying('x', [['b1', 500n]]);
    expect(sharesPaid([first], [referral, creator])).toEqual({ paid: [['x', 'code', 500]], unknown: [] });
    // together they pay more than the partner is owed
    expect(sharesPaid([first, paying('y', [['b1', 401n]])], [referral])).toEqual({
      paid: [['x', 'code', 500]],
      unknown: ['y'],
    });
    expect(sharesPaid([paying('x', [['b1', 901n]])], [referral])).toEqual({ paid: [], unknown: ['x'] });
    // change of an unknown payout of the service
    expect(sharesPaid([paying('x', [['b1', 5n]], { inputs: [input('a:0')] })], [referral]).paid).toHaveLength(
      1,
    );
    // others are paid, too, or two kinds of partners, or one partner twice
    for (const outputs of [
      [
        ['b1', 5n],
        ['b9', 5n],
      ],
      [
        ['b1', 5n],
        ['b2', 5n],
      ],
      [
        ['b1', 5n],
        ['b1', 6n],
      ],
      [
        ['b1', 5n],
        ['6a5d', 0n],
      ],
    ] as const satisfies readonly (readonly Paid[])[])
      expect(sharesPaid([paying('x', outputs)], [referral, creator]).paid).toEqual([]);
    const units = new Map([['x:0', new Map([['5:1', 50n]])]]);
    expect(sharesPaid([first], [referral], open({}), units).paid).toEqual([]);
    // coins of accounts and of orders, and of others
    for (const other of [
      input('a:0', { coin: { ...coin, held: 'accounts' } }),
      input('a:0', { coin: { ...coin, held: 'reserved' } }),
      input('a:0', { key: { branch: 0, index: 5 } }),
      input('a:0', { key: null }),
    ])
      expect(sharesPaid([paying('x', [['b1', 5n]], { inputs: [other] })], [referral]).paid).toEqual([]);
    // a waiting payout with the same amount is that payout
    const payouts = [payout('p', [payee('b1', 500n)])];
    expect(sharesPaid([first], [referral], open({ payouts }))).toEqual({ paid: [], unknown: [] });
    // not in a block
    expect(sharesPaid([{ ...first, height: null }], [referral]).paid).toEqual([]);
    expect(matchPayments([{ ...first, height: null }], open({}), new Map(), [referral]).unmined).toHaveLength(
      1,
    );
  });

  test('pay partners with one address only if all of them are paid whole', () => {
    const partner = (owner: string, sats: bigint): OwedPartner => ({
      account: 'referral',
      owner,
      script: 'b1',
      address: 'b1',
      sats,
    });
    const partners = [partner('one', 300n), partner('two', 200n)];
    const sharesPaid = (sats: bigint) =>
      sharesOf([{ script: 'b1', value: sats, address: 'b1', key: null }], partners)?.map(
        ({ owner, sats: share }) => [owner, share],
      ) ?? null;
    expect(sharesPaid(500n)).toEqual([
      ['one', 300n],
      ['two', 200n],
    ]);
    expect([sharesPaid(300n), sharesPaid(501n)]).toEqual([null, null]);
  });

  test('replace a signed consolidation', () => {
    const family = trustedTxid(new Uint8Array(32));
    const signed = payout('c', [], {
      payout: payoutRow('c', { kind: 'consolidation', ownIndex: 8 }),
      family,
      spends: new Set(['a:0']),
    });
    const coin = { key: own(1), kind: 'token-order', held: 'accounts', subject: 'o' } as const;
    const raised = found('x', [['cc', 8n, own(8)]], { inputs: [input('a:0', { coin })] });
    expect(match([raised], open({ payouts: [signed] })).booked).toEqual([['x', 'c', true, []]]);
  });

  test('are not sure if they pay another amount to the receiver of an open payment', () => {
    const withdrawals = [payee('b1', 500n, 'w1'), payee('b2', 9n, 'w2')];
    const batch = found('x', [
      ['b1', 498n],
      ['b2', 9n],
    ]);
    expect(match([batch], open({ withdrawals }))).toEqual({
      booked: [['x', null, false, [null, 'w2']]],
      unsure: [['x', 'w1', 'amount']],
      unexplained: [],
    });
    const ofOrder = found('y', [['b1', 498n]], { inputs: [input('a:0', { key: { branch: 0, index: 5 } })] });
    expect(match([ofOrder], open({ withdrawals })).unsure).toEqual([]);
  });

  test('replace a signed transaction only if they spend one of its coins', () => {
    const family = trustedTxid(new Uint8Array(32));
    const signed = payout('p', [payee('b1', 500n)], { family, spends: new Set(['a:0']) });
    const raised = found('x', [['b1', 500n]], { inputs: [input('a:0'), input('b:0')] });
    const other = found('y', [['b1', 500n]]);
    expect(match([raised], open({ payouts: [signed] })).booked).toEqual([['x', 'p', true, ['b1']]]);
    expect(match([other], open({ payouts: [signed] }))).toMatchObject({
      booked: [],
      unsure: [['y', 'p', 'others']],
    });
  });

  test('return an output with all of its runes, and only that output', () => {
    const txid = 'ab'.repeat(32);
    const spends = { txid: trustedTxid(Buffer.from(txid, 'hex')), vout: 1 };
    const returned = payout('r', [payee('b1', 546n)], { payout: payoutRow('r', { kind: 'return', spends }) });
    const made = (outpoint: string, sats = 546n) =>
      found(
        'x',
        [
          ['b1', sats],
          ['cc', 9n, own(7)],
        ],
        { inputs: [input(outpoint), input('fee:0')] },
      );
    const units = new Map([['x:0', new Map([['5:1', 50n]])]]);
    const payouts = open({ payouts: [returned] });
    expect(match([made(`${txid}:1`)], payouts, units).booked).toEqual([['x', 'r', false, ['b1']]]);
    expect(match([made(`${txid}:1`)], payouts).booked).toEqual([['x', 'r', false, ['b1']]]);
    expect(match([made(`${txid}:0`)], payouts, units).booked).toEqual([]);
    expect(match([made(`${txid}:1`, 547n)], payouts, units)).toMatchObject({
      booked: [],
      unsure: [['x', 'r', 'amount']],
    });
  });

  test('keep the key of the change that a payout had before the backup', () => {
    const known = payout('p', [payee('b1', 500n)], { payout: payoutRow('p', { ownIndex: 4 }) });
    const made = (index: number) =>
      found('x', [
        ['cc', 1n, own(index)],
        ['b1', 500n],
      ]);
    expect(match([made(4)], open({ payouts: [known] })).booked).toHaveLength(1);
    expect(match([made(5)], open({ payouts: [known] })).booked).toHaveLength(0);
  });
});
