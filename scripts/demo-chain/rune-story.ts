import { type Rune, runeCommitment } from '#kernel/runes/rune.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { Edict, Etching, Runestone } from '#kernel/runes/runestone/artifact.ts';
import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { asU128, smallU128 } from '#kernel/runes/u128.ts';
import { type Coin, type NewOutput, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { type DemoWorld, postage } from './demo-world.ts';

const treasurer = 41;
const holders = [42, 43, 44, 45, 46, 47];
const opDrop = 0x75;
const noTerms = { heightStart: null, heightEnd: null, offsetStart: null, offsetEnd: null };

/** The runes of the demo. One can still be minted, one is minted out, and one was premined completely. */
const plans: readonly { readonly name: string; readonly etching: Partial<Etching> }[] = [
  {
    name: 'SATSCRIBE•DEMO•COIN',
    etching: {
      divisibility: 2,
      symbol: 0x2609,
      premine: asU128(100_000_000),
      terms: { ...noTerms, amount: asU128(100_000), cap: asU128(5_000) },
      turbo: true,
    },
  },
  {
    name: 'MINTED•OUT•ALREADY',
    etching: { symbol: 0x1f3c1, terms: { ...noTerms, amount: asU128(100), cap: asU128(12) } },
  },
  { name: 'ORBITS•FOREVER•RUNE', etching: { symbol: 0x1fa90, premine: asU128(21_000_000) } },
];

interface Etched {
  readonly id: RuneId;
  /** The output that holds the premine. */
  coin: Coin;
}

const named = (name: string): { readonly rune: Rune; readonly spacers: number } => {
  const spaced = parseSpacedRune(name);
  if (spaced === null) throw new Error(`${name} is not a name of a rune`);
  return spaced;
};
const blank: Runestone = { kind: 'runestone', edicts: [], etching: null, mint: null, pointer: null };
const stone = (parts: Partial<Runestone>): NewOutput => ({
  value: 0,
  outputScript: encipher({ ...blank, ...parts }),
});

/** Makes etchings, mints and transfers of runes over the days of the demo. */
export class RuneStory {
  readonly #world: DemoWorld;
  readonly #commits: Coin[] = [];
  readonly #etched: Etched[] = [];

  constructor(world: DemoWorld) {
    this.#world = world;
  }

  /** Commits to names. Their etchings follow six blocks later. */
  async commit(): Promise<void> {
    for (const { name } of plans) {
      const bytes = runeCommitment(named(name).rune);
      const script = Uint8Array.of(bytes.length, ...bytes, opDrop);
      this.#commits.push((await this.#world.pay([{ value: 50_000, commit: script, to: treasurer }])).coin(0));
    }
  }

  async etch(): Promise<void> {
    for (const [at, { name, etching }] of plans.entries()) {
      const commit = this.#commits[at];
      if (commit === undefined) throw new Error('each name is committed to');
      const id = this.#world.nextRuneId();
      const full = { ...plainEtching, ...named(name), ...etching };
      const made = this.#world.add(
        transaction([commit], [stone({ etching: full }), { value: postage, to: treasurer }]),
      );
      this.#etched.push({ id, coin: made.coin(1) });
    }
  }

  /** Sends premined units to their holders. */
  async spread(): Promise<void> {
    for (const [at, share] of [
      [0, 6_000_000],
      [2, 2_500_000],
    ] as const) {
      const rune = this.#of(at);
      const edicts = holders.map(
        (_, index): Edict => ({ id: rune.id, amount: asU128(share - index * 300_000), output: index + 2 }),
      );
      const outputs = [treasurer, ...holders].map((to) => ({ value: postage, to }));
      const made = await this.#world.pay([stone({ edicts }), ...outputs], [rune.coin]);
      rune.coin = made.coin(1);
    }
  }

  /** Makes the mints of a day, and sometimes a transfer. */
  async live(day: number): Promise<void> {
    const to = holders[day % holders.length] ?? treasurer;
    const open = this.#of(0);
    for (let count = 0; count < 1 + (day % 3); count++) await this.#mint(open.id, to);
    if (day >= 16 && day < 28) await this.#mint(this.#of(1).id, to);
    if (day % 4 !== 0) return;
    const edicts = [{ id: open.id, amount: asU128(50_000 + day * 1_000), output: smallOutput }];
    const made = await this.#world.pay(
      [stone({ edicts }), { value: postage, to: treasurer }, { value: postage, to }],
      [open.coin],
    );
    open.coin = made.coin(1);
  }

  async #mint(id: RuneId, to: number): Promise<void> {
    await this.#world.pay([
      stone({ mint: { block: smallU128(Number(id.block)), tx: id.tx } }),
      { value: postage, to },
    ]);
  }

  #of(at: number): Etched {
    const found = this.#etched[at];
    if (found === undefined) throw new Error('all runes are etched');
    return found;
  }
}

/** Index of the output after the treasurer's change. */
const smallOutput = 2;
