import { deepStrictEqual } from 'node:assert/strict';
import { waitUntil } from '#test/support/wait-until.ts';
import type { Ord, OrdResult } from './processes/ord-program.ts';
import type { WalletNode } from './processes/wallet-node.ts';

/** The servers that the tests use with ord's wallet. */
export interface Servers {
  /** Satscribe with its default indexes. */
  readonly plain: string;
  /** Satscribe with sats and addresses. */
  readonly full: string;
  /** ord's own server, with the same two sets of indexes. */
  readonly ordPlain: string;
  readonly ordFull: string;
}

/** Commands that change nothing. Their output is compared. */
const reads = [
  ['balance'],
  ['outputs'],
  ['inscriptions'],
  ['runics'],
  ['cardinals'],
  ['addresses'],
  ['transactions'],
  ['pending'],
  ['label'],
  ['sats'],
  ['sats', '--all'],
  ['outputs', '--ranges'],
] as const;

export const wallets = ['seller', 'buyer'] as const;
export type WalletName = (typeof wallets)[number];

/** Runs commands of ord's wallet. Compares their output with Satscribe as the server and with ord as the server. */
export class Steps {
  readonly #ord: Ord;
  readonly #node: WalletNode;
  readonly #servers: Servers;
  readonly #say: (line: string) => void;
  commands = 0;
  compared = 0;

  constructor(ord: Ord, node: WalletNode, servers: Servers, say: (line: string) => void) {
    this.#ord = ord;
    this.#node = node;
    this.#servers = servers;
    this.#say = say;
  }

  /** Runs a command against Satscribe, with its default indexes or with all indexes. Returns the command's JSON. */
  async run<Value>(
    name: WalletName,
    words: readonly string[],
    { server = 'plain', input }: { readonly server?: 'plain' | 'full'; readonly input?: string } = {},
  ): Promise<Value> {
    this.commands++;
    const result = await this.#ord.wallet(this.#servers[server], name, words, input);
    if (!result.isDone) throw new Error(`ord wallet --name ${name} ${words.join(' ')}: ${result.error}`);
    this.#say(`  ${name}: ${words.join(' ').slice(0, 100)}`);
    return result.value as Value;
  }

  /** Runs a command that ord must refuse, with the same words for both servers. */
  async refused(name: WalletName, words: readonly string[]): Promise<string> {
    const { plain, ordPlain } = this.#servers;
    const [ours, theirs] = await this.#both(plain, ordPlain, name, words);
    if (ours.isDone) throw new Error(`ord wallet ${words.join(' ')} was not refused`);
    deepStrictEqual(ours, theirs, words.join(' '));
    this.#say(`  ${name}: ${words.join(' ').slice(0, 60)}: refused, ${ours.error.split('\n')[0]}`);
    return ours.error;
  }

  /** Mines what was sent. After that, all servers must return the same to every wallet. */
  async confirm(blocks = 1): Promise<void> {
    await this.#node.mine(blocks);
    await this.settle();
    for (const name of wallets) await this.#compare(name);
  }

  /** Waits until all servers have every block. */
  async settle(): Promise<void> {
    const height = await this.#node.node.rpc.call<number>('getblockcount');
    for (const url of Object.values(this.#servers)) {
      await waitUntil(async () => (await (await fetch(`${url}/blockcount`)).text()) === String(height + 1), {
        everyMs: 50,
      });
    }
  }

  async #compare(name: WalletName): Promise<void> {
    const { plain, ordPlain, full, ordFull } = this.#servers;
    for (const words of reads) {
      for (const [ours, theirs] of [
        [plain, ordPlain],
        [full, ordFull],
      ] as const) {
        const answers = await this.#both(ours, theirs, name, words);
        deepStrictEqual(answers[0], answers[1], `${name}: ${words.join(' ')}`);
        this.compared++;
      }
    }
  }

  async #both(
    ours: string,
    theirs: string,
    name: WalletName,
    words: readonly string[],
  ): Promise<[OrdResult, OrdResult]> {
    // one command after the other, because the wallet locks its database
    this.commands++;
    const own = await this.#ord.wallet(ours, name, words);
    return [own, await this.#ord.wallet(theirs, name, words)];
  }
}
