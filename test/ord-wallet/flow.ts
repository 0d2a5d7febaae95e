import { deepStrictEqual, match, ok } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hex } from '@scure/base';
import { p2wpkh, TEST_NETWORK, WIF } from '@scure/btc-signer';
import { pubECDSA } from '@scure/btc-signer/utils.js';
import type { WalletNode } from './processes/wallet-node.ts';
import type { Steps, WalletName } from './steps.ts';

interface Inscribed {
  readonly commit: string;
  readonly reveal: string;
  readonly inscriptions: readonly { readonly id: string; readonly location: string }[];
  readonly rune: { readonly rune: string; readonly destination: string } | null;
}

interface Balance {
  readonly cardinal: number;
  readonly ordinal: number;
  readonly runes: Readonly<Record<string, string>>;
  readonly total: number;
}

const feeRate = ['--fee-rate', '1'] as const;
const runeName = 'WALLET•OF•ORDINALS';

/** The life of a wallet of ord. Each step ends with a block, and compares everything that wallets read. */
export class Flow {
  readonly #steps: Steps;
  readonly #node: WalletNode;
  readonly #folder: string;
  readonly #say: (line: string) => void;

  constructor(steps: Steps, node: WalletNode, folder: string, say: (line: string) => void) {
    this.#steps = steps;
    this.#node = node;
    this.#folder = folder;
    this.#say = say;
  }

  async run(): Promise<void> {
    await this.#part('create, receive, balance', () => this.#fund());
    const parent = await this.#part('inscribe', () => this.#inscribe());
    const children = await this.#part('batch with a parent', () => this.#batch(parent));
    await this.#part('etch', () => this.#etch(parent));
    await this.#part('mint', () => this.#mint());
    await this.#part('send sats, an inscription, runes', () => this.#send(children[0]!));
    await this.#part('split', () => this.#split());
    await this.#part('burn an inscription, runes', () => this.#burn(children[1]!));
    await this.#part('offer: create, accept', () => this.#offer(children[2]!));
    await this.#part('sweep', () => this.#sweep());
    await this.#part('refusals', () => this.#refusals());
  }

  async #part<T>(title: string, work: () => Promise<T>): Promise<T> {
    this.#say(title);
    return work();
  }

  #file(name: string, text: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, text);
    return path;
  }

  async #address(name: WalletName): Promise<string> {
    const { addresses } = await this.#steps.run<{ addresses: string[] }>(name, ['receive']);
    return addresses[0]!;
  }

  async #balance(name: WalletName): Promise<Balance> {
    return this.#steps.run<Balance>(name, ['balance']);
  }

  async #fund(): Promise<void> {
    for (const name of ['seller', 'buyer'] as const) {
      const made = await this.#steps.run<{ mnemonic: string }>(name, ['create']);
      ok(made.mnemonic.split(' ').length === 12);
      const address = await this.#address(name);
      match(address, /^bcrt1p/u);
      await this.#node.node.rpc.call('generatetoaddress', [3, address]);
      await this.#steps.settle();
    }
    await this.#steps.confirm(100);
    deepStrictEqual(await this.#balance('seller'), {
      cardinal: 15_000_000_000,
      ordinal: 0,
      runes: {},
      runic: 0,
      total: 15_000_000_000,
    });
  }

  async #inscribe(): Promise<string> {
    const made = await this.#steps.run<Inscribed>('seller', [
      'inscribe',
      ...feeRate,
      '--file',
      this.#file('parent.txt', 'a parent'),
      '--json-metadata',
      this.#file('metadata.json', '{"made by":"a wallet","numbers":[1,2,3]}'),
    ]);
    await this.#steps.confirm();
    const { id } = made.inscriptions[0]!;
    const listed = await this.#steps.run<{ inscription: string }[]>('seller', ['inscriptions']);
    deepStrictEqual(
      listed.map(({ inscription }) => inscription),
      [id],
    );
    return id;
  }

  async #batch(parent: string): Promise<string[]> {
    const entries = [1, 2, 3].map((n) => `  - file: ${this.#file(`child-${n}.txt`, `child ${n}`)}`);
    const file = this.#file(
      'batch.yaml',
      [
        'mode: separate-outputs',
        `parents: [${parent}]`,
        'inscriptions:',
        ...entries,
        `  - delegate: ${parent}`,
        `  - file: ${this.#file('gallery.txt', 'a gallery')}`,
        `    gallery: [{id: ${parent}}]`,
        '    title: all of them',
        '    traits: {size: 1, is new: true}',
        '',
      ].join('\n'),
    );
    const made = await this.#steps.run<Inscribed>('seller', ['batch', ...feeRate, '--batch', file]);
    await this.#steps.confirm();
    const listed = await this.#steps.run<unknown[]>('seller', ['inscriptions']);
    deepStrictEqual(listed.length, 6);
    return made.inscriptions.map(({ id }) => id);
  }

  async #etch(parent: string): Promise<void> {
    const file = this.#file(
      'etching.yaml',
      [
        'mode: separate-outputs',
        `parents: [${parent}]`,
        'etching:',
        `  rune: ${runeName}`,
        '  divisibility: 2',
        '  premine: 1000.00',
        '  supply: 2000.00',
        "  symbol: '$'",
        '  terms: {amount: 100.00, cap: 10}',
        '  turbo: true',
        'inscriptions:',
        `  - file: ${this.#file('rune.txt', 'the inscription of a rune')}`,
        '',
      ].join('\n'),
    );
    const etching = this.#steps.run<Inscribed>('seller', ['batch', ...feeRate, '--batch', file]);
    const state = { isOver: false };
    void etching.then(
      () => (state.isOver = true),
      () => (state.isOver = true),
    );
    // the command waits until its commit has six blocks, then sends the reveal
    while (!state.isOver && (await this.#node.pending()).length === 0) await pause();
    await this.#node.mine(6);
    const made = await etching;
    ok(made.rune?.rune === runeName);
    await this.#steps.confirm();
    deepStrictEqual((await this.#balance('seller')).runes, { [runeName]: '1000' });
  }

  async #mint(): Promise<void> {
    await this.#steps.run('buyer', ['mint', ...feeRate, '--rune', runeName]);
    await this.#steps.confirm();
    deepStrictEqual((await this.#balance('buyer')).runes, { [runeName]: '100' });
  }

  async #send(inscription: string): Promise<void> {
    const address = await this.#address('buyer');
    const before = await this.#balance('buyer');
    for (const asset of ['12345sat', inscription, `50.25:${runeName}`]) {
      await this.#steps.run('seller', ['send', '--dry-run', ...feeRate, address, asset], { server: 'full' });
      await this.#steps.run('seller', ['send', ...feeRate, address, asset]);
      await this.#steps.confirm();
    }
    const after = await this.#balance('buyer');
    deepStrictEqual(after.cardinal - before.cardinal, 12_345);
    deepStrictEqual(after.runes, { [runeName]: '150.25' });
    ok(after.ordinal > 0);
  }

  async #split(): Promise<void> {
    const outputs = await Promise.all(
      ['seller' as const, 'buyer' as const].map(
        async (name, place) =>
          `  - {address: ${await this.#address(name)}, value: 2000 sat, runes: {${runeName}: ${place + 1}0.5}}`,
      ),
    );
    const file = this.#file('splits.yaml', ['outputs:', ...outputs, ''].join('\n'));
    await this.#steps.run('seller', ['split', ...feeRate, '--splits', file]);
    await this.#steps.confirm();
    deepStrictEqual((await this.#balance('buyer')).runes, { [runeName]: '170.75' });
  }

  async #burn(inscription: string): Promise<void> {
    await this.#steps.run('seller', ['burn', ...feeRate, inscription]);
    await this.#steps.confirm();
    await this.#steps.run('buyer', ['burn', ...feeRate, `0.75:${runeName}`]);
    await this.#steps.confirm();
    deepStrictEqual((await this.#balance('buyer')).runes, { [runeName]: '170' });
  }

  async #offer(inscription: string): Promise<void> {
    const terms = ['--inscription', inscription, '--amount', '1btc'];
    const before = await this.#balance('seller');
    const { psbt } = await this.#steps.run<{ psbt: string }>('buyer', [
      'offer',
      'create',
      ...terms,
      ...feeRate,
    ]);
    await this.#steps.run('seller', ['offer', 'accept', ...terms, '--psbt', psbt, '--dry-run'], {
      server: 'full',
    });
    await this.#steps.run('seller', ['offer', 'accept', ...terms, '--psbt', psbt]);
    await this.#steps.confirm();
    const bought = await this.#steps.run<{ inscription: string }[]>('buyer', ['inscriptions']);
    ok(bought.some((each) => each.inscription === inscription));
    ok((await this.#balance('seller')).cardinal >= before.cardinal + 100_000_000);
  }

  /** Sweeps coins of a key that no wallet has. The sweep needs an index of addresses. */
  async #sweep(): Promise<void> {
    const key = hex.decode('07'.repeat(32));
    const regtest = { ...TEST_NETWORK, bech32: 'bcrt' };
    const { address } = p2wpkh(pubECDSA(key), regtest);
    await this.#steps.run('buyer', ['send', ...feeRate, address!, '54321sat']);
    await this.#steps.confirm();
    const swept = await this.#steps.run<{ outputs: string[] }>(
      'seller',
      ['sweep', ...feeRate, '--address-type', 'p2wpkh'],
      { server: 'full', input: `${WIF(TEST_NETWORK).encode(key)}\n` },
    );
    deepStrictEqual(swept.outputs.length, 1);
    await this.#steps.confirm();
  }

  async #refusals(): Promise<void> {
    const unknown = `${'ab'.repeat(32)}i0`;
    const address = await this.#address('buyer');
    const child = this.#file('orphan.txt', 'an orphan');
    for (const words of [
      ['inscribe', ...feeRate, '--delegate', unknown],
      ['inscribe', ...feeRate, '--file', child, '--parent', unknown],
      ['send', ...feeRate, address, unknown],
      ['send', ...feeRate, address, '5:NOBODYETCHEDTHIS'],
      ['mint', ...feeRate, '--rune', 'NOBODYETCHEDTHIS'],
      ['offer', 'create', ...feeRate, '--inscription', unknown, '--amount', '1btc'],
    ])
      await this.#steps.refused('seller', words);
  }
}

const pause = async (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 200);
  });
