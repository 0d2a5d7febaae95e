import { copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTxid } from '#kernel/primitives/hash.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { addressOf, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { type CliResult, runCli } from '#test/support/run-cli.ts';
import { knownWords, orderLeaf, testWallet } from '#test/support/wallet/plans.ts';
import { takeIndices } from '#test/support/wallet/take-indices.ts';
import { withRelease } from '#test/support/wallet/with-release.ts';
import { endsAt } from '#wallet/indices/branch-ends.ts';
import { markText, writeMark } from '#wallet/indices/mark-file.ts';
import { openPublicWallet, type PublicWallet, type WalletAddress } from '#wallet/public-wallet.ts';
import { type RecoveryKit, recoveryKit } from '#wallet/recovery-kit.ts';
import { leafHashOf } from '#wallet/taproot.ts';
import { putWallet } from '#wallet/wallet.store.ts';

const customer = 78;
const proof = { tags: ['proof'] };

let folder: string;
let database: TestDatabase;
let seedFile: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'satscribe-wallet-'));
  seedFile = join(folder, 'wallet.seed');
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function wallet(words: readonly string[], env: Record<string, string> = {}): Promise<CliResult> {
  const result = await runCli(['wallet', ...words], { LOG_LEVEL: 'trace', ...env });
  await expectNoSecret(result.stdout + result.stderr);
  return result;
}

/** Expects that the text contains no two consecutive words of the seed, and no private key. */
async function expectNoSecret(printed: string): Promise<void> {
  const words = (await readFile(seedFile, 'utf8').catch(() => '')).trim().split(' ');
  for (const [place, word] of words.slice(1).entries())
    expect(printed).not.toContain(`${words[place]} ${word}`);
  expect(printed).not.toContain('abandon');
  expect(printed).not.toMatch(/[xt]prv/u);
}
const onDatabase = (words: readonly string[], env: Record<string, string> = {}): Promise<CliResult> =>
  wallet(words, { ...database.settings, WALLET_SEED_FILE: seedFile, ...env });

/** Takes an index of orders, as a creation does. */
const takeOne = (): Promise<number> =>
  withRelease(database.url, async (client) => (await takeIndices(client, { orders: 1 })).orders);

/** Runs the commands in the order in which an operator needs them. */
describe('satscribe wallet', { shuffle: false }, () => {
  test('says what is missing', async () => {
    expect((await onDatabase(['show'])).stderr).toContain('wallet_missing');
    expect((await onDatabase(['descriptors'])).stderr).toContain('wallet_missing');
    expect((await onDatabase(['init'])).stderr).toContain('missing network');
    const noFile = await wallet(['init', '--network', 'regtest'], database.settings);
    expect([noFile.exitCode, noFile.stderr]).toEqual([2, expect.stringContaining('WALLET_SEED_FILE')]);
  });

  test('init makes the seed file and stores its public part', async () => {
    const made = await onDatabase(['init', '--network', 'regtest']);
    expect([made.exitCode, made.stderr]).toEqual([0, '']);
    expect(made.stdout).toContain('on regtest');
    expect(made.stdout).toContain('not printed, because the output is not a terminal');
    expect((await stat(seedFile)).mode & 0o777).toBe(0o600);
    expect((await readFile(seedFile, 'utf8')).trim().split(' ')).toHaveLength(24);
  });

  test('init changes nothing if there is a wallet', async () => {
    const before = await readFile(seedFile, 'utf8');
    const again = await onDatabase(['init', '--network', 'regtest']);
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('wallet_exists')]);
    expect(again.stderr).toContain(
      `The seed file ${seedFile} belongs to this wallet, so no action is needed.`,
    );
    expect(again.stderr).not.toContain('another seed');
    expect(await readFile(seedFile, 'utf8')).toBe(before);
  });

  test('init moves the indices up after a restore, only for the seed of the wallet', async () => {
    const moved = await onDatabase(['init', '--first-index', '50', '--json']);
    expect(JSON.parse(moved.stdout)).toMatchObject({ nextOrderIndex: 50, nextOwnIndex: 50 });
    expect(await readFile(`${seedFile}.mark`, 'utf8')).toContain('"orders": 50');
    expect(await takeOne()).toBe(50);
    const other = join(folder, 'other.seed');
    await writeFile(other, knownWords, { mode: 0o600 });
    const existing = await onDatabase(['init'], { WALLET_SEED_FILE: other });
    expect(existing.stderr).toContain(`The seed file ${other} does not belong to this wallet`);
    const refused = await onDatabase(['init', '--first-index', '60'], { WALLET_SEED_FILE: other });
    expect(refused.stderr).toContain('wallet_seed_mismatch');
    expect((await onDatabase(['show'], { WALLET_SEED_FILE: other })).stdout).toContain(
      'wallet_seed_mismatch',
    );
  });

  test('init takes an existing seed only with the first index that it did not use', async () => {
    const empty = await createTestDatabase();
    try {
      const restored = join(folder, 'without-mark.seed');
      await copyFile(seedFile, restored);
      const settings = { ...empty.settings, WALLET_SEED_FILE: restored };
      const refused = await wallet(['init', '--network', 'regtest'], settings);
      expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('wallet_seed_exists')]);
      const taken = await wallet(['init', '--network', 'regtest', '--first-index', '9', '--json'], settings);
      expect(JSON.parse(taken.stdout)).toMatchObject({
        network: 'regtest',
        nextOrderIndex: 9,
        nextOwnIndex: 9,
      });
    } finally {
      await empty.drop();
    }
  });

  test('init takes an existing seed with its mark, and continues there', async () => {
    const empty = await createTestDatabase();
    try {
      const taken = await wallet(['init', '--network', 'regtest', '--json'], {
        ...empty.settings,
        WALLET_SEED_FILE: seedFile,
      });
      expect(JSON.parse(taken.stdout)).toMatchObject({ nextOrderIndex: 50, nextOwnIndex: 50 });
      const noSeed = await wallet(['init', '--network', 'regtest'], {
        ...empty.settings,
        WALLET_SEED_FILE: join(folder, 'absent.seed'),
        WALLET_MARK_FILE: `${seedFile}.mark`,
      });
      expect(noSeed.stderr).toContain('wallet_exists');
    } finally {
      await empty.drop();
    }
  });

  test('show and descriptors show public data', async () => {
    const known = await openPublicWallet(database.pool);
    const shown = await onDatabase(['show', '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      network: 'regtest',
      accountXpub: known!.identity.accountXpub,
      masterFingerprint: known!.identity.masterFingerprint,
      nextOrderIndex: 51,
      nextFeesIndex: 50,
      seed: 'matches',
      mark: '50 of orders, 50 of the service, 50 of fee charges',
      release: 'none, because no process with the seed runs',
      addresses: {
        orders: [0, 1, 2].map((index) => known!.orderAddress(index, null).address),
        fees: [0, 1, 2].map((index) => known!.feesAddress(index).address),
      },
    });
    const fees = recoveryKit(known!, { key: { branch: 3, index: 7 }, leafScript: null });
    expect(JSON.parse((await onDatabase(['kit', '--fees-index', '7'])).stdout)).toEqual(fees);
    const text = await onDatabase(['show'], { WALLET_SEED_FILE: '' });
    expect(text.stdout).toContain('seed file    not set');
    const descriptors = await onDatabase(['descriptors']);
    expect(descriptors.stdout).toBe(
      known!
        .descriptors()
        .map((line) => `${line}\n`)
        .join(''),
    );
    expect(JSON.parse((await onDatabase(['descriptors', '--json'])).stdout)).toMatchObject([
      { desc: known!.descriptors()[0], range: [0, 1051], active: false },
      { desc: known!.descriptors()[1], range: [0, 1050], active: false },
      { desc: known!.descriptors()[2], range: [0, 99], active: false },
      { desc: known!.descriptors()[3], range: [0, 1050], active: false },
    ]);
  });

  test('fund shows one address of the wallet until coins arrive there', async () => {
    const known = await openPublicWallet(database.pool);
    await withRelease(database.url, async () => {
      const { address } = JSON.parse((await onDatabase(['fund', '--json'])).stdout) as { address: string };
      expect(address).toBe(known!.ownAddress(50).address);
      expect((await onDatabase(['fund'])).stdout).toBe(
        `address      ${address}\nfree coins   0 sats, including revenue\n`,
      );
    });
  });

  test('skip moves on beyond all known indices, whatever the state of the mark', proof, async () => {
    const skipped = await onDatabase(['skip', '--json']);
    expect(JSON.parse(skipped.stdout)).toMatchObject({
      nextOrderIndex: 1_000_061,
      nextOwnIndex: 1_000_060,
      nextFeesIndex: 1_000_060,
    });
    const markFile = `${seedFile}.mark`;
    await rm(markFile);
    expect((await onDatabase(['show'])).stdout).toContain('mark         missing');
    const { exitCode, stderr } = await onDatabase(['skip', '--by', '999999']);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/is lost\. .* Leave --by out/u)]);
    await onDatabase(['skip']);
    expect(await readFile(markFile, 'utf8')).toContain('"orders": 2000061');
    await onDatabase(['skip', '--by', '5']);
    const text = await readFile(markFile, 'utf8');
    await writeFile(markFile, text.replace('"own": 2000065', '"own": 7'));
    expect((await onDatabase(['show'])).stdout).toContain('mark         wallet_mark_refused');
    expect((await onDatabase(['skip', '--by', '5'])).stderr).toContain('is damaged. Without this file');
    await onDatabase(['skip', '--by', '1000000']);
    expect((await onDatabase(['show'])).stdout).toContain(
      'mark         3000066 of orders, 3000065 of the service, 3000065 of fee charges',
    );
    const others = await onDatabase(['skip'], { WALLET_MARK_FILE: join(folder, 'without-mark.seed.mark') });
    expect([others.exitCode, others.stderr]).toEqual([0, '']);
    const { wallet: known } = testWallet('regtest');
    await writeFile(markFile, markText(known.identity, endsAt(1)));
    const refused = await onDatabase(['skip']);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('wallet_mark_mismatch')]);
    const nowhere = await onDatabase(['skip'], { WALLET_MARK_FILE: '/nowhere/wallet.mark' });
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([
      1,
      expect.stringContaining('wallet_mark_unwritable'),
    ]);
  });
});

describe.skipIf(bitcoindThatRelaysReveals() === null)('satscribe wallet recover', () => {
  let bitcoind: Bitcoind;
  let chain: RegtestChain;
  let known: PublicWallet;
  let env: Record<string, string>;

  beforeAll(async () => {
    bitcoind = await startBitcoind({ zmq: [], txindex: false });
    chain = await RegtestChain.start(bitcoind.rpc);
    // an empty machine has no database, only a seed restored from its words, and the kit
    const restored = join(folder, 'restored.seed');
    await writeFile(restored, `${knownWords}\n`, { mode: 0o600 });
    env = {
      WALLET_SEED_FILE: restored,
      BITCOIN_RPC_URL: bitcoind.rpcUrl,
      BITCOIN_COOKIE_FILE: bitcoind.cookieFile,
      DATA_DIR: join(folder, 'none'),
    };
    known = testWallet('regtest').wallet;
  });
  afterAll(() => bitcoind.remove());

  async function writeKit(kit: RecoveryKit): Promise<string> {
    const file = join(folder, `kit-${kit.address}.json`);
    await writeFile(file, JSON.stringify(kit));
    return file;
  }
  /** Pays an address in a mined block. */
  async function pay(script: Uint8Array, values: readonly number[]): Promise<void> {
    const coin = await chain.coin();
    const rest = coin.value - values.reduce((sum, value) => sum + value, 10_000);
    const payments = values.map((value) => ({ value, outputScript: script }));
    await chain.mine([transaction([coin], [...payments, { value: rest }])]);
  }
  const kitOf = (index: number, body: string | null): RecoveryKit =>
    recoveryKit(known, {
      key: { branch: 0, index },
      leafScript: body === null ? null : orderLeaf(known, index, body),
    });
  const recover = (file: string, ...words: readonly string[]): Promise<CliResult> =>
    wallet(['recover', file, '--to', addressOf(customer), '--fee-rate', '2.5', ...words], env);

  test("takes back a customer's payment, with only the seed and the kit", async () => {
    const kit = kitOf(4, 'an order that was never inscribed');
    const file = await writeKit(kit);
    expect((await recover(file)).stderr).toContain('its address has no confirmed output');
    await pay(Buffer.from(kit.script, 'hex'), [30_000, 12_000, 100]);
    const ours = [kit.address, known.inventoryAddress(3).address, known.ownAddress(1).address.toUpperCase()];
    for (const to of ours)
      expect((await wallet(['recover', file, '--to', to, '--fee-rate', '2'], env)).stderr).toContain('_own:');

    const signed = await recover(file);
    expect(signed.exitCode).toBe(0);
    expect(signed.stderr).toMatch(
      /^signed, not sent: .*; outputs taken: 2; outputs that were not taken: 1$/mu,
    );
    expect(await bitcoind.rpc.call('getrawmempool')).toEqual([]);

    const sent = await recover(file, '--broadcast', '--json');
    const { txid, value, fee, inputs, left, isSent } = JSON.parse(sent.stdout) as Record<string, unknown>;
    expect({ inputs, left, isSent, sum: Number(value) + Number(fee) }).toEqual({
      inputs: 2,
      left: 1,
      isSent: true,
      sum: 42_000,
    });
    expect(await bitcoind.rpc.call('getrawmempool')).toEqual([txid]);
    const entry = await bitcoind.rpc.call<{ vsize: number; fees: { base: number } }>('getmempoolentry', [
      txid,
    ]);
    expect(Math.round(entry.fees.base * 1e8)).toBe(Math.ceil(entry.vsize * 2.5));
    await chain.mineMempool();
    const output = await bitcoind.rpc.call<{ scriptPubKey: { hex: string } }>('gettxout', [txid, 0]);
    expect(output.scriptPubKey.hex).toBe(Buffer.from(scriptOf(customer)).toString('hex'));
    expect(parseTxid(String(txid))).not.toBeNull();
  });

  test('takes back payments to the wallet, except those that the mempool spends', async () => {
    const kit = kitOf(6, null);
    const file = await writeKit(kit);
    await pay(Buffer.from(kit.script, 'hex'), [20_000]);
    expect((await recover(file, '--broadcast')).exitCode).toBe(0);
    const again = await recover(file, '--broadcast');
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('recovery_refused')]);
    const fees = recoveryKit(known, { key: { branch: 3, index: 6 }, leafScript: null });
    await pay(Buffer.from(fees.script, 'hex'), [15_000]);
    const taken = await recover(await writeKit(fees), '--broadcast', '--json');
    const { value, fee } = JSON.parse(taken.stdout) as { value: number; fee: number };
    expect(value + fee).toBe(15_000);
    await chain.mineMempool();
  });

  test('takes back the payment of an order with the kit of the database', proof, async () => {
    const own = testWallet('regtest').wallet;
    const other = await createTestDatabase();
    try {
      await putWallet(other.pool, own.identity, endsAt(0));
      const leaves = ['first', 'second'].map((text) => orderLeaf(own, 11, text));
      const [direct, toWallet] = [
        '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
        '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a12',
      ];
      const add = async (id: string, index: number, paidTo: string, charge: WalletAddress) => {
        await other.pool.query(
          `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote,
             request, terms, expires_at)
           VALUES ($1, 'direct', 'waiting-payment', $2, $2, $3, $4, $5, 30000, '{}', '{}', '{}', now())`,
          [id, index, Buffer.from(charge.script), charge.address, paidTo],
        );
      };
      await add(direct, 11, 'direct', own.orderAddress(11, leaves[0]!));
      await add(toWallet, 12, 'wallet', own.orderAddress(12, null));
      const stored = [
        [direct, 0, leaves[0]!],
        [toWallet, 0, orderLeaf(own, 12, 'first')],
        [toWallet, 1, orderLeaf(own, 12, 'second')],
      ] as const;
      for (const [id, index, leaf] of stored)
        await other.pool.query('INSERT INTO service.order_leaves VALUES ($1, $2, $3)', [
          id,
          index,
          Buffer.from(leaf),
        ]);

      const kitBy = async (...words: readonly string[]): Promise<unknown> => {
        const { stdout, stderr } = await wallet(['kit', ...words], other.settings);
        return stdout === '' ? stderr : JSON.parse(stdout);
      };
      const kit = (await kitBy(direct)) as RecoveryKit;
      expect(kit).toEqual(recoveryKit(own, { key: { branch: 0, index: 11 }, leafScript: leaves[0]! }));
      const charge = { key: { branch: 0, index: 12 } as const, leafScript: null };
      expect(await kitBy(toWallet)).toEqual(recoveryKit(own, charge));
      expect(await kitBy(toWallet, '--reveal', '1')).toEqual(
        recoveryKit(own, { ...charge, leafScript: stored[2][2] }),
      );
      expect(await kitBy(toWallet, '--reveal', '2')).toContain('recovery_refused');
      expect(await kitBy(direct.replace('9a11', '9a13'))).toContain('order_unknown');

      await pay(Buffer.from(kit.script, 'hex'), [30_000]);
      const recovered = await recover(await writeKit(kit));
      expect([recovered.exitCode, recovered.stdout]).toEqual([
        0,
        expect.stringMatching(/^02000000[0-9a-f]+\n$/u),
      ]);
    } finally {
      await other.drop();
    }
  });

  test('refuses a kit that was changed, and one of another network', async () => {
    const kit = kitOf(7, 'text');
    await pay(Buffer.from(kit.script, 'hex'), [40_000]);
    const wrong = join(folder, 'wrong.json');
    await writeFile(wrong, JSON.stringify({ ...kit, keyPath: "m/86'/1'/0'/0/8" }));
    expect((await recover(wrong)).stderr).toContain('plan_refused');
    await writeFile(wrong, JSON.stringify({ ...kit, network: 'mainnet' }));
    expect((await recover(wrong)).stderr).toContain('belongs to another network');
    const offCurve = 'bcrt1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqzssr24l3';
    const lost = await wallet(['recover', await writeKit(kit), '--to', offCurve, '--fee-rate', '2'], env);
    expect([lost.exitCode, lost.stderr]).toEqual([2, expect.stringContaining('no one can spend')]);
  });

  interface Restored {
    readonly searched: { readonly orders: number; readonly own: number };
    readonly hasDatabase: boolean;
    readonly outputs: readonly {
      readonly output: string;
      readonly sats: number;
      readonly branch: string;
      readonly index: number;
      readonly orderId: string | null;
    }[];
    readonly transactions: readonly { readonly txid: string; readonly fee: number }[];
    readonly left: readonly { readonly output: string; readonly why: string }[];
  }
  const seedAlone = ['restore', '--without-database', '--network', 'regtest', '--json'] as const;
  async function restored(words: readonly string[], settings = env): Promise<Restored> {
    const { stdout, stderr } = await wallet(words, settings);
    expect(stdout, stderr).toMatch(/^\{/u);
    return JSON.parse(stdout) as Restored;
  }
  /** The outputs with these values, as `branch/index sats`. */
  const keysOf = ({ outputs }: Restored, values: readonly number[]): string[] =>
    outputs
      .filter(({ sats }) => values.includes(sats))
      .map(({ branch, index, sats }) => `${branch}/${index} ${sats}`)
      .toSorted();

  test(
    'restore finds all outputs of the seed, across gaps, and sends them to one address',
    proof,
    async () => {
      const at = (branch: 0 | 1 | 2 | 3, index: number) =>
        known.addressOf({ key: { branch, index }, leafScript: null }).script;
      const paid: [Uint8Array, number][] = [
        [at(0, 30), 20_001],
        [at(0, 1500), 20_002],
        [at(1, 7), 20_003],
        [at(2, 5), 20_004],
        [at(0, 5000), 20_005],
        [at(1, 20), 20_006],
        [at(3, 9), 20_008],
        [at(3, 1100), 20_009],
        [known.orderAddress(31, orderLeaf(known, 31, 'needs its kit')).script, 20_007],
      ];
      for (const [script, value] of paid) await pay(script, [value]);
      const values = paid.map(([, value]) => value);
      // the search continues beyond the last address that it finds, as far as the gap
      const near = await restored([...seedAlone, '--gap', '600']);
      expect(keysOf(near, values)).toEqual([
        'fee/9 20008',
        'inventory/5 20004',
        'order/30 20001',
        'service/20 20006',
        'service/7 20003',
      ]);
      const far = await restored([...seedAlone, '--gap', '2000']);
      expect(keysOf(far, values)).toEqual(
        [...keysOf(near, values), 'order/1500 20002', 'fee/1100 20009'].toSorted(),
      );
      expect(far.searched).toEqual({ orders: 3501, own: 2021, fees: 3101 });
      await writeMark(`${env['WALLET_SEED_FILE']}.mark`, known.identity, {
        orders: 5001,
        own: 40,
        fees: 1200,
      });
      const marked = await restored(seedAlone);
      expect(keysOf(marked, values)).toEqual([...keysOf(far, values), 'order/5000 20005'].toSorted());
      expect([marked.searched, marked.hasDatabase]).toEqual([{ orders: 6001, own: 1040, fees: 2200 }, false]);

      const shown = await wallet(seedAlone.slice(0, -1), env);
      expect(shown.stdout).toContain("m/86'/1'/0'/0/5000");
      expect(shown.stdout).toContain('only be found with the kits of their orders');
      // how far the search goes is unknown until the node answers
      expect(shown.stderr).toContain('addresses are derived');

      const capitals = known.ownAddress(1030).address.toUpperCase();
      const ours = await wallet([...seedAlone, '--to', capitals, '--fee-rate', '2'], env);
      expect(ours.stderr).toContain('destination_own');
      // the address is refused before the scan
      expect(ours.stderr).toContain('comparing --to with the addresses of the wallet: 0 of');
      expect(ours.stderr).not.toContain('outputs found');
      const swept = await restored([
        ...seedAlone,
        '--to',
        addressOf(customer),
        '--fee-rate',
        '2',
        '--broadcast',
      ]);
      expect(await bitcoind.rpc.call('getrawmempool')).toContain(swept.transactions[0]!.txid);
      expect(swept.left.map(({ why }) => why)).toContainEqual(expect.stringContaining('of the inventory'));
      await chain.mineMempool();
      expect(keysOf(await restored(seedAlone), values)).toEqual(['inventory/5 20004']);
    },
  );

  test('restore finds addresses with a leaf by the database, and takes outputs that the index proves to be free', async () => {
    const other = await createTestDatabase();
    try {
      await putWallet(other.pool, known.identity, endsAt(0));
      const id = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a21';
      const deleted = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a22';
      const commit = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a23';
      const leaf = (index: number) => orderLeaf(known, index, 'restored');
      const charges = [
        [id, 41, 'direct', known.orderAddress(41, leaf(41))],
        [deleted, 42, 'direct', known.orderAddress(42, leaf(42))],
        [commit, 43, 'wallet', known.orderAddress(43, null)],
      ] as const;
      for (const [order, index, paidTo, charge] of charges) {
        await other.pool.query(
          `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote,
             request, terms, expires_at)
           VALUES ($1, 'direct', 'waiting-payment', $2, $2, $3, $4, $5, 30000, '{}', '{}', '{}', now())`,
          [order, index, Buffer.from(charge.script), charge.address, paidTo],
        );
        await other.pool.query('INSERT INTO service.order_leaves VALUES ($1, 0, $2)', [order, leaf(index)]);
      }
      await other.pool.query(
        'UPDATE service.orders SET leaf_hash = $2, leaves_deleted_at = now() WHERE id = $1',
        [deleted, leafHashOf(leaf(42))],
      );
      await other.pool.query('DELETE FROM service.order_leaves WHERE order_id = $1', [deleted]);
      await pay(charges[0][3].script, [21_001]);
      await pay(charges[1][3].script, [21_002]);
      await pay(known.orderAddress(43, leaf(43)).script, [21_003]);
      const settings = { ...env, ...other.settings };
      const words = ['restore', '--gap', '100', '--json'];
      const { outputs, hasDatabase } = await restored(words, settings);
      const orders = outputs.filter(({ sats }) => sats > 21_000 && sats < 21_004);
      expect(orders.map(({ sats, orderId }) => [sats, orderId])).toEqual([
        [21_001, id],
        [21_002, deleted],
        [21_003, commit],
      ]);
      const to = ['--to', addressOf(customer), '--fee-rate', '2'];
      // nothing is indexed on this machine
      const careful = await restored([...words, ...to], settings);
      expect([hasDatabase, careful.transactions]).toEqual([true, []]);
      expect(careful.left.find(({ output }) => output === orders[0]!.output)?.why).toContain('cannot prove');
      await expect(
        wallet(['restore', ...to], { ...env, DATA_DIR: join(folder, 'none') }),
      ).resolves.toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('--without-database') as string,
      });
    } finally {
      await other.drop();
    }
  }, 180_000);
});
