import { beforeAll, describe, expect, test } from 'vitest';
import { reservedRune, runeLetters } from '#kernel/runes/rune.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import { type Coin, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { type CustomerAddress, customerAddress, signerBody } from '#test/support/psbts/customer-address.ts';
import { signingLibraries } from '#test/support/psbts/sign-psbt.ts';
import type { EtchedRune, ShopWorld } from './shop-world.ts';

interface BurnPsbt {
  readonly psbtBase64: string;
  readonly warnings: string[];
  readonly runeInputs: { readonly indices: number[]; readonly address: string };
  readonly paymentInputs: { readonly indices: number[]; readonly address: string };
}

interface Verdict {
  readonly valid: boolean;
  readonly reason: string | null;
  readonly burned: number;
  readonly burnedBase: string;
  readonly confirmations: number | null;
  readonly warnings: string[];
}

/**
 * Tests burns of runes. Two libraries sign the PSBTs, and the burns are mined. Also tests the verdicts about
 * transactions that burn.
 */
export function testRuneBurns(started: () => ShopWorld): void {
  describe('a burn of a rune', () => {
    let shop: ShopWorld;
    let rune: EtchedRune;
    let other: EtchedRune;
    beforeAll(async () => {
      shop = started();
      rune = await shop.etch(10n ** 30n, 8);
      other = await shop.etch(1_000_000n, 0);
    });

    async function ask<Answer>(url: string, body: object): Promise<{ status: number; body: Answer }> {
      const answer = await shop.app.inject({
        method: 'POST',
        url: `/tokenpay/${url}`,
        headers: { 'content-type': 'application/json', 'x-api-key': shop.key },
        payload: JSON.stringify(body),
      });
      return { status: answer.statusCode, body: answer.json() };
    }
    const build = (owners: object, body: object) =>
      ask<BurnPsbt & { readonly message?: string }>('create-burn-rune-psbt', {
        token: rune.name,
        feeRate: 5,
        ...owners,
        ...body,
      });
    async function judge(named: object, amount: number | string = 2.5): Promise<Verdict> {
      const { status, body } = await ask<Verdict>('validate-burn-rune-tx', {
        ...named,
        token: rune.name,
        amount,
      });
      expect([status, body]).toEqual([200, body]);
      return body;
    }
    const base = (units: number): bigint => BigInt(Math.round(units * 1e8));

    async function burnedBy(name: string): Promise<bigint> {
      const { rows } = await shop.world.database.pool.query<{ burned: string }>(
        `SELECT coalesce(sum(b.amount), 0)::text AS burned FROM chain.rune_burns b JOIN chain.runes r ON r.key = b.rune_key
          WHERE r.height = $1 AND r.tx_index = $2`,
        name === rune.name ? [rune.id.block, rune.id.tx] : [other.id.block, other.id.tx],
      );
      return BigInt(rows[0]!.burned);
    }

    async function unitsAt({ script }: CustomerAddress): Promise<string[]> {
      const { rows } = await shop.world.database.pool.query<{ amount: string }>(
        'SELECT amount::text FROM chain.rune_balances WHERE script = $1 AND spent_height IS NULL ORDER BY rune_key',
        [Buffer.from(script)],
      );
      return rows.map(({ amount }) => amount);
    }

    test.each(signingLibraries.map((library, place) => ({ ...library, place })))(
      'is signed with $name and mined: the index has the burned units, and everything else returns',
      async ({ sign, finalize, place }) => {
        const type = place === 0 ? 'p2wpkh' : 'p2tr';
        const ordinals = customerAddress(74_000 + place);
        const payment = customerAddress(74_100 + place, type);
        const owners = signerBody(payment, ordinals);
        expect(await build(owners, { amount: 2.5 })).toMatchObject({
          status: 400,
          body: { message: expect.stringContaining(`has only 0 ${rune.name}`) as string },
        });
        await shop.send([
          {
            value: 700,
            to: ordinals.owner,
            units: [
              [rune, base(2)],
              [other, 9n],
            ],
          },
          { value: 800, to: ordinals.owner, units: [[rune, base(1)]] },
          { value: 60_000, to: payment.owner, type },
        ]);
        await shop.world.chain.mineMempool();
        await shop.world.indexed();
        const { status, body } = await build(owners, { amount: '2.5' });
        expect([status, body.runeInputs, body.paymentInputs, body.warnings[0]]).toEqual([
          200,
          { indices: [0, 1], address: ordinals.address },
          { indices: [2], address: payment.address },
          `The transaction burns 2.5 ${rune.name}, which cannot be undone.`,
        ]);
        const hex = finalize(
          sign(body.psbtBase64, [
            { by: ordinals, indices: body.runeInputs.indices },
            { by: payment, indices: body.paymentInputs.indices },
          ]),
        );
        const good = { valid: true, reason: null, burned: 2.5, burnedBase: '250000000', warnings: [] };
        expect(await judge({ hex })).toMatchObject({ ...good, confirmations: null });
        const before = [await burnedBy(rune.name), await burnedBy(other.name)];
        const txid = await shop.world.chain.rpc.call<string>('sendrawtransaction', [hex]);
        expect(await judge({ txid })).toMatchObject({ ...good, confirmations: 0 });
        await shop.world.chain.mineMempool();
        await shop.world.indexed();
        for (const named of [{ txid }, { hex }])
          expect(await judge(named)).toMatchObject({ ...good, confirmations: 1 });
        expect(await judge({ txid }, 3)).toMatchObject({ valid: false, burned: 2.5 });
        expect([await burnedBy(rune.name), await burnedBy(other.name)]).toEqual([
          before[0]! + base(2.5),
          before[1],
        ]);
        expect(await unitsAt(ordinals)).toEqual([String(base(0.5)), '9']);
      },
    );

    /** Makes a transaction that is not sent. Its second output is a runestone with these fields. */
    function unsent(coin: Coin, fields: Partial<Runestone>): string {
      const outputScript = encipher({
        kind: 'runestone',
        edicts: [],
        etching: null,
        mint: null,
        pointer: null,
        ...fields,
      });
      return transaction([coin], [{ value: coin.value - 2_000 }, { value: 0, outputScript }]).hex;
    }
    const edict = (amount: bigint, output: number) => ({
      id: { block: asU128(rune.id.block), tx: rune.id.tx },
      amount: asU128(amount),
      output,
    });

    test('is judged before it is sent, even if it spends outputs of the mempool', async () => {
      const sent = await shop.send([
        {
          value: 9_000,
          units: [
            [rune, base(2.5)],
            [other, 3n],
          ],
        },
      ]);
      const coin = sent.coin(1);
      const judged = async (fields: Partial<Runestone>): Promise<unknown[]> => {
        const { valid, reason, burned, warnings } = await judge({ hex: unsent(coin, fields) });
        return [valid, reason, burned, warnings.length];
      };
      const all = async (): Promise<void> => {
        expect(await judged({ edicts: [edict(base(2.5), 1)] })).toEqual([true, null, 2.5, 0]);
        expect(await judged({ edicts: [edict(base(1), 1)] })).toEqual([
          false,
          expect.stringContaining('less'),
          1,
          0,
        ]);
        // the pointer burns all units, including those of the other rune
        expect(await judged({ pointer: 1 })).toEqual([true, null, 2.5, 1]);
        expect(await judged({ edicts: [edict(1n, 99)] })).toEqual([true, null, 2.5, 2]);
        expect(await judged({ pointer: 0 })).toEqual([false, expect.stringContaining('burns no'), 0, 0]);
      };
      await all();
      await shop.world.chain.mineMempool();
      await shop.world.indexed();
      await all();
      expect((await judge({ hex: unsent(coin, { pointer: 1 }) }, 2)).reason).toContain('more than the 2');
      // another transaction of the mempool spends the coin
      const rival = transaction([coin], [{ value: coin.value - 1_000 }]);
      await shop.world.chain.broadcast(rival);
      expect((await judge({ hex: unsent(coin, { pointer: 1 }) })).warnings).toEqual([
        expect.stringContaining('other runes'),
        expect.stringContaining(rival.txid),
      ]);
      await shop.world.chain.mineMempool();
      await shop.world.indexed();
      expect(await judge({ hex: unsent(coin, { pointer: 1 }) })).toMatchObject({
        valid: false,
        reason: expect.stringContaining('already spent') as string,
        burned: 0,
      });
      expect(await judge({ txid: rival.txid })).toMatchObject({ valid: false, confirmations: null });
    });

    test.each([
      ['create-burn-rune-psbt', {}, ['token is required', 'amount is required', 'paymentAddress']],
      ['create-burn-rune-psbt', { amount: 0 }, ['above 0']],
      ['create-burn-rune-psbt', { amount: '0.000000001' }, ['more than 8 decimals']],
      ['create-burn-rune-psbt', { token: 'NOTETCHED', amount: 1 }, ['no block has etched a rune NOTETCHED']],
      [
        'create-burn-rune-psbt',
        { amount: 1, paymentAddress: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' },
        ['paymentAddress belongs to another network, but this server serves regtest'],
      ],
      ['create-burn-rune-psbt', { amount: 1, feeRate: 0.05 }, ['feeRate']],
      ['validate-burn-rune-tx', {}, ['txid or hex is required', 'token is required', 'amount is required']],
      ['validate-burn-rune-tx', { txid: 'ab', hex: '00', amount: 1 }, ['exclude each other']],
      ['validate-burn-rune-tx', { txid: 'xy'.repeat(32), amount: 1 }, ['txid must be']],
      ['validate-burn-rune-tx', { hex: '0', amount: 1 }, ['hex must be']],
      ['validate-burn-rune-tx', { hex: '70736274ff', amount: 1 }, ['not a transaction']],
      ['validate-burn-rune-tx', { txid: 'ab'.repeat(32), amount: 'x' }, ['number in digits']],
    ] as const)('%s with %j is refused', async (url, fields, words) => {
      const owners = signerBody(customerAddress(74_200), customerAddress(74_201));
      const isEmpty = Object.keys(fields).length === 0;
      const body = isEmpty
        ? {}
        : { token: rune.name, ...(url.startsWith('create') ? owners : {}), ...fields };
      const answer = await ask<object>(url, body);
      expect(answer.status).toBe(400);
      for (const word of words) expect(JSON.stringify(answer.body)).toContain(word);
    });

    const paths = ['user/order/rune', 'create-burn-rune-psbt', 'validate-burn-rune-tx'];
    /**
     * Checks that each path with a token and an amount refuses these fields, with this message in the path's error
     * format.
     */
    async function refusedEverywhere(fields: object, words: string): Promise<void> {
      const owners = signerBody(customerAddress(74_200), customerAddress(74_201));
      for (const path of paths) {
        const body = { ...owners, txid: 'ab'.repeat(32), token: rune.name, amount: 1, ...fields };
        const { paymentAddress: _, ...named } = body;
        const answer = await ask<object>(path, path === 'create-burn-rune-psbt' ? body : named);
        expect([path, answer.status]).toEqual([path, 400]);
        expect(JSON.stringify(answer.body)).toContain(words);
        expect(answer.body).not.toHaveProperty('id');
      }
    }

    test.each([
      ['uncommongoods', 'invalid character'],
      ['UNCOMMON•GOODS•', 'trailing spacer'],
      ['•UNCOMMON•GOODS', 'leading spacer'],
      ['1:0', 'invalid character'],
      // this name is reserved for runes that are etched without a name
      ['A'.repeat(27), `no block has etched a rune ${'A'.repeat(27)}`],
      ['UNCOMMON GOODS', 'invalid character'],
      ['', 'token is required'],
    ])('the token %j is refused by each path', async (token, words) => {
      await refusedEverywhere({ token }, words);
    });

    test.each([
      [0, 'above 0'],
      [-1, 'above 0'],
      ['-0', 'above 0'],
      ['1,5', 'number in digits'],
      ['1e400', 'exponent'],
      ['NaN', 'number in digits'],
      ['Infinity', 'number in digits'],
      ['0x10', 'number in digits'],
      ['+1', 'number in digits'],
      [' 1', 'number in digits'],
      ['0.000000001', 'more than 8 decimals'],
      [String(2n ** 128n), 'above 2^128'],
      [true, 'amount must be a number'],
    ])('the amount %j is refused by each path', async (amount, words) => {
      await refusedEverywhere({ amount }, words);
    });

    test('a rune is unknown to each path until a block has its etching', async () => {
      const { chain } = shop.world;
      const coin = await chain.coin();
      const etching = transaction(
        [coin],
        [{ value: coin.value - 20_000 }, { value: 0, outputScript: premined(7) }],
      );
      await chain.broadcast(etching);
      // the name that the protocol will give to the rune
      const height = (await chain.height()) + 1;
      const token = runeLetters(reservedRune(height, 1));
      await refusedEverywhere({ token }, `no block has etched a rune ${token}`);
      await chain.mine([etching]);
      await shop.world.indexed();
      expect((await ask('user/order/rune', { token, amount: 7 })).status).toBe(200);
    });

    test('an order in another protocol is not found', async () => {
      expect(await ask('user/order/brc20', { token: rune.name, amount: 1 })).toEqual({
        status: 404,
        body: { status: 'error', error: 'there is no POST /tokenpay/user/order/brc20' },
      });
    });
  });
}
