import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nothingHeld } from '#kernel/contracts/holdings.ts';
import type { PlannedInput, PlannedOutput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { orderLeaf, plainInputs, testWallet } from '#test/support/wallet/plans.ts';
import { recoveryKit } from '#wallet/recovery-kit.ts';
import type { SignedTransaction } from '#wallet/signer.ts';

const { wallet, signer } = testWallet('regtest');
const p2a = Uint8Array.of(0x51, 0x02, 0x4e, 0x73);
const customer = 77;

describe.skipIf(bitcoindThatRelaysReveals() === null)('a node', () => {
  let bitcoind: Bitcoind;
  let chain: RegtestChain;

  beforeAll(async () => {
    bitcoind = await startBitcoind({ zmq: [], txindex: true });
    chain = await RegtestChain.start(bitcoind.rpc);
  });
  afterAll(() => bitcoind.remove());

  /** Pays these addresses in one block, and returns outputs to spend. */
  async function paid(
    payments: readonly Pick<PlannedInput, 'key' | 'leafScript' | 'path' | 'value'>[],
  ): Promise<PlannedInput[]> {
    const coin = await chain.coin();
    const scripts = payments.map((payment) => wallet.addressOf(payment).script);
    const sum = payments.reduce((all, { value }) => all + Number(value), 10_000);
    const made = transaction(
      [coin],
      [
        ...payments.map(({ value }, place) => ({ value: Number(value), outputScript: scripts[place]! })),
        { value: coin.value - sum },
      ],
    );
    await chain.mine([made]);
    return payments.map((payment, vout) => ({
      ...payment,
      txid: parseTxid(made.txid)!,
      vout,
      script: scripts[vout]!,
      sequence: 0xffff_fffd,
    }));
  }

  const hexOf = ({ bytes }: SignedTransaction): string => Buffer.from(bytes).toString('hex');
  const verdictOf = async (hex: string) => {
    const [verdict] = await bitcoind.rpc.call<
      { allowed: boolean; 'reject-reason'?: string; vsize: number; txid: string; wtxid: string }[]
    >('testmempoolaccept', [[hex]]);
    return verdict!;
  };
  async function expectAccepted(plan: TransactionPlan): Promise<SignedTransaction> {
    const signed = signer.signPlan(plan, plainInputs(plan));
    const verdict = await verdictOf(hexOf(signed));
    expect(verdict['reject-reason']).toBeUndefined();
    expect(verdict).toMatchObject({
      allowed: true,
      vsize: Math.ceil(signed.weight / 4),
      txid: displayHash(signed.txid),
      wtxid: displayHash(signed.wtxid),
    });
    await bitcoind.rpc.call('sendrawtransaction', [hexOf(signed)]);
    return signed;
  }
  const planOf = (
    inputs: readonly PlannedInput[],
    outputs: readonly PlannedOutput[],
    version: 2 | 3 = 2,
  ): TransactionPlan => ({ version, lockTime: 0, inputs, outputs, feeMax: 2_000_000n });

  test('takes a direct order: its leaf, top-ups by key, of output keys of both parities', async () => {
    const parities = new Set<number>();
    for (let index = 0; index < 8; index++) {
      const leafScript = orderLeaf(wallet, index, `file ${index}`.repeat(index * 100 + 1));
      const order = { key: { branch: 0, index } as const, leafScript };
      parities.add(wallet.orderAddress(index, leafScript).controlBlock![0]! & 1);
      const own = { key: { branch: 1, index } as const, leafScript: null };
      const inputs = await paid([
        { ...order, path: 'leaf', value: 20_000n },
        { ...order, path: 'key', value: 5_000n },
        { ...own, path: 'key', value: 5_000n },
      ]);
      const outputs: PlannedOutput[] = [
        { kind: 'postage', script: scriptOf(customer), value: 546n },
        { kind: 'service', script: wallet.addressOf(own).script, value: 20_000n, own },
        { kind: 'anchor', script: p2a, value: 240n },
      ];
      const { txid } = await expectAccepted(planOf(inputs, outputs, index % 2 === 0 ? 2 : 3));
      await chain.mineMempool();
      const mined = await bitcoind.rpc.call<{ confirmations: number }>('getrawtransaction', [
        displayHash(txid),
        true,
      ]);
      expect(mined.confirmations).toBe(1);
    }
    expect(parities.size).toBe(2);
  });

  test('takes fee charges (P2WPKH) alone and beside payments, at the planned weight', async () => {
    const own = { key: { branch: 1, index: 60 } as const, leafScript: null };
    const leafScript = orderLeaf(wallet, 61);
    const beside = [
      { ...own, path: 'key', value: 5_000n },
      { key: { branch: 0, index: 61 }, leafScript, path: 'leaf', value: 20_000n },
    ] as const;
    for (let count = 1; count <= 4; count++) {
      const charges = Array.from({ length: count }, (_, place) => ({
        key: { branch: 3, index: 60 + count * 4 + place } as const,
        leafScript: null,
        path: 'key' as const,
        value: 9_000n,
      }));
      const inputs = await paid(count % 2 === 0 ? [...charges, ...beside] : charges);
      await expectAccepted(
        planOf(inputs, [
          { kind: 'refund', script: scriptOf(customer), value: 4_000n },
          { kind: 'service', script: wallet.addressOf(own).script, value: 1_000n, own },
        ]),
      );
    }
    await chain.mineMempool();
    const [charge] = await paid([
      { key: { branch: 3, index: 90 }, leafScript: null, path: 'key', value: 9_000n },
    ]);
    const refund: PlannedOutput = { kind: 'refund', script: scriptOf(customer), value: 8_000n };
    const lying = signer.signPlan(planOf([{ ...charge!, value: 9_001n }], [refund]), [nothingHeld]);
    expect((await verdictOf(hexOf(lying))).allowed).toBe(false);
  });

  test('takes the largest reveal that it relays, and the order whose payment it was by key instead', async () => {
    const leafScript = orderLeaf(wallet, 20, new Uint8Array(385_000).fill(65));
    const order = { key: { branch: 0, index: 20 } as const, leafScript, value: 400_000n };
    const [reveal, refunded] = await paid([
      { ...order, path: 'leaf' },
      { ...order, path: 'key' },
    ]);
    const refund: PlannedOutput = { kind: 'refund', script: scriptOf(customer), value: 290_000n };
    const { weight } = await expectAccepted(planOf([reveal!], [refund]));
    expect(weight).toBeGreaterThan(385_000);
    await expectAccepted(planOf([refunded!], [{ ...refund, value: 399_000n }]));
  });

  test('takes a commit of the wallet and its reveals, and burns the sats of anchors', async () => {
    const parts = [31, 32].map((index) => {
      const own = { key: { branch: 0, index } as const, leafScript: orderLeaf(wallet, index) };
      return { own, script: wallet.addressOf(own).script };
    });
    const change = { key: { branch: 1, index: 30 } as const, leafScript: null };
    const inputs = await paid([
      { key: { branch: 0, index: 30 }, leafScript: null, path: 'key', value: 60_000n },
    ]);
    const commit = await expectAccepted(
      planOf(inputs, [
        ...parts.map(({ own, script }) => ({ kind: 'commit' as const, script, value: 20_000n, own })),
        { kind: 'change', script: wallet.addressOf(change).script, value: 19_000n, own: change },
      ]),
    );
    for (const [vout, { own, script }] of parts.entries()) {
      const committed = { ...own, path: 'leaf' as const, value: 20_000n, script };
      const input = { ...committed, txid: commit.txid, vout, sequence: 0xffff_fffd };
      const service = { key: { branch: 1, index: 40 + vout } as const, leafScript: null };
      const paidOn = wallet.addressOf(service).script;
      const reveal = await expectAccepted(
        planOf(
          [input],
          [
            { kind: 'burn', script: p2a, value: 546n },
            { kind: 'service', script: paidOn, value: 18_000n, own: service },
          ],
        ),
      );
      const anchor = { ...input, txid: reveal.txid, vout: 0, value: 546n, script: p2a, leafScript: null };
      const paying = { ...service, txid: reveal.txid, vout: 1, value: 18_000n, script: paidOn };
      const burn = signer.signPlan(
        planOf(
          [
            { ...anchor, path: 'key' },
            { ...paying, path: 'key', sequence: 0xffff_fffd },
          ],
          [
            { kind: 'burn', script: Uint8Array.of(0x6a), value: 546n },
            { kind: 'anchor', script: p2a, value: 240n },
          ],
        ),
        [nothingHeld, nothingHeld],
      );
      expect((await verdictOf(hexOf(burn))).allowed).toBe(true);
    }
  });

  test('refuses a control block of the other parity, and a signature for another amount', async () => {
    const leafScript = orderLeaf(wallet, 50);
    const inputs = await paid([{ key: { branch: 0, index: 50 }, leafScript, path: 'leaf', value: 20_000n }]);
    const refund: PlannedOutput = { kind: 'refund', script: scriptOf(customer), value: 18_000n };
    const hex = hexOf(signer.signPlan(planOf(inputs, [refund]), plainInputs({ inputs })));
    const { controlBlock } = wallet.orderAddress(50, leafScript);
    const shown = Buffer.from(controlBlock!).toString('hex');
    const other = Buffer.from([controlBlock![0]! ^ 1, ...controlBlock!.subarray(1)]).toString('hex');
    expect((await verdictOf(hex.replace(shown, other))).allowed).toBe(false);
    const [input] = inputs;
    const lying = signer.signPlan(
      planOf([{ ...input!, value: 20_001n }], [refund]),
      plainInputs({ inputs: [input!] }),
    );
    expect((await verdictOf(hexOf(lying))).allowed).toBe(false);
    expect((await verdictOf(hex)).allowed).toBe(true);
  });

  test('derives the addresses of the descriptors, and agrees with their checksums', async () => {
    const [orders, own, inventory, fees] = wallet.descriptors();
    const derived = (descriptor: string): Promise<string[]> =>
      bitcoind.rpc.call<string[]>('deriveaddresses', [descriptor, [0, 20]]);
    const indices = Array.from({ length: 21 }, (_, index) => index);
    expect(await derived(orders)).toEqual(indices.map((index) => wallet.orderAddress(index, null).address));
    expect(await derived(own)).toEqual(indices.map((index) => wallet.ownAddress(index).address));
    expect(await derived(inventory)).toEqual(indices.map((index) => wallet.inventoryAddress(index).address));
    expect(await derived(fees)).toEqual(indices.map((index) => wallet.feesAddress(index).address));
  });

  test('derives the address of each recovery kit from its descriptor', async () => {
    for (const own of [
      { key: { branch: 0, index: 9 }, leafScript: null },
      { key: { branch: 0, index: 9 }, leafScript: orderLeaf(wallet, 9) },
      { key: { branch: 3, index: 9 }, leafScript: null },
    ] as const) {
      const kit = recoveryKit(wallet, own);
      expect(await bitcoind.rpc.call('deriveaddresses', [kit.descriptor])).toEqual([kit.address]);
    }
  });
});
