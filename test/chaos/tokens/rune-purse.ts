import { asRune, reservedRune } from '#kernel/runes/rune.ts';
import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { type Coin, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import type { RuneChain } from './rune-chain.ts';
import { plainMessage, type RuneMessage, type Units } from './rune-model.ts';

/** A rune that the run etched. */
export interface RunRune {
  /** The txid of the rune's etching. */
  readonly etching: string;
  readonly name: string;
  readonly id: { readonly block: number; readonly tx: number };
  readonly divisibility: number;
  /** Maximum number of units that an order asks for. */
  readonly most: bigint;
  /** Units of a mint; 0 if the rune cannot be minted. */
  readonly mint: bigint;
}

export interface RuneCoin {
  readonly coin: Coin;
  readonly runes: Units;
}

/** Amounts of four runes: a small rune, a rune beyond doubles, a rune near u128, and a rune that is minted. */
const wishes = [
  { divisibility: 0, premine: 1_000_000_000n, most: 1_000n, cap: 0, mint: 0n },
  { divisibility: 8, premine: 10n ** 24n, most: 10n ** 18n, cap: 0, mint: 0n },
  { divisibility: 38, premine: 2n ** 128n - 1n, most: 2n ** 110n, cap: 0, mint: 0n },
  { divisibility: 2, premine: 1_000_000_000n, most: 50_000n, cap: 12, mint: 25_000n },
] as const;
const coinsOfRune = 40;
const coinSats = 50_000;
/** Number of blocks that bury a coin. It is more than the depth of any reorganisation of a run. */
const buriedBlocks = 20;

/** Coins with runes that no reorganisation takes back. The rest of a coin can be used when it is buried. */
export class RunePurse {
  readonly runes: readonly RunRune[];
  readonly #chain: RegtestChain;
  readonly #ready: RuneCoin[];
  readonly #young: RuneCoin[] = [];

  private constructor(chain: RegtestChain, runes: readonly RunRune[], ready: RuneCoin[]) {
    this.#chain = chain;
    this.runes = runes;
    this.#ready = ready;
  }

  /** Etches the runes, and splits their premines. */
  static async fill(chain: RegtestChain, model: RuneChain): Promise<RunePurse> {
    const runes: RunRune[] = [];
    const ready: RuneCoin[] = [];
    for (const wish of wishes) {
      const { divisibility, premine, most, cap, mint } = wish;
      const terms =
        cap === 0
          ? null
          : {
              amount: asU128(mint),
              cap: asU128(cap),
              heightStart: null,
              heightEnd: null,
              offsetStart: null,
              offsetEnd: null,
            };
      const etching = { ...plainEtching, divisibility, premine: asU128(premine), terms };
      const paid = { value: coinsOfRune * coinSats + 100_000 };
      const script = encipher({ kind: 'runestone', edicts: [], etching, mint: null, pointer: 0 });
      const coin = await chain.coin();
      const rest = coin.value - paid.value - 100_000;
      const etched = transaction([coin], [paid, { value: rest }, { value: 0, outputScript: script }]);
      model.messages.set(etched.txid, {
        ...plainMessage,
        etching: { premine, cap, amount: mint },
        pointer: 0,
      });
      // the index is 1, because the coinbase is before the etching
      const id = { block: (await chain.mine([etched])).height, tx: 1 };
      const name = formatSpacedRune({ rune: asRune(reservedRune(id.block, id.tx)), spacers: 0 });
      model.etchings.set(`${id.block}:${id.tx}`, etched.txid);
      const rune = { etching: etched.txid, name, id, divisibility, most, mint };
      runes.push(rune);
      ready.push(...(await split(chain, model, rune, etched.coin(0), premine)));
    }
    await chain.mineEmpty(buriedBlocks);
    return new RunePurse(chain, runes, ready);
  }

  /** Takes a coin with at least this number of units. `null` if there is no such coin now. */
  async take(rune: RunRune, least: bigint): Promise<RuneCoin | null> {
    const has = ({ runes }: RuneCoin): boolean => (runes.get(rune.etching) ?? 0n) >= least;
    const found = this.#ready.findIndex(has);
    if (found >= 0) return this.#ready.splice(found, 1)[0] ?? null;
    for (const [place, each] of this.#young.entries()) {
      if (!has(each) || !(await this.#isBuried(each.coin))) continue;
      this.#young.splice(place, 1);
      return each;
    }
    return null;
  }

  /** Keeps the rest of a payment for later. The payment may still be replaced. */
  keep(coin: RuneCoin): void {
    this.#young.push(coin);
  }

  async #isBuried({ txid, vout }: Coin): Promise<boolean> {
    const output = await this.#chain.rpc.call<{ confirmations: number } | null>('gettxout', [txid, vout]);
    return output !== null && output.confirmations >= buriedBlocks;
  }
}

/** Makes coins with equal units, by an edict to all outputs. */
async function split(
  chain: RegtestChain,
  model: RuneChain,
  rune: RunRune,
  coin: Coin,
  premine: bigint,
): Promise<RuneCoin[]> {
  const share = premine / BigInt(coinsOfRune);
  const outputs = Array.from({ length: coinsOfRune }, () => ({ value: coinSats }));
  const message: RuneMessage = {
    ...plainMessage,
    edicts: [{ rune: rune.etching, amount: share, output: coinsOfRune + 1 }],
    pointer: 0,
  };
  const made = transaction([coin], [...outputs, { value: 0, outputScript: scriptOf(message, [rune]) }]);
  model.messages.set(made.txid, message);
  await chain.mine([made]);
  // the first coin also has the rest
  return outputs.map((_, vout) => ({ coin: made.coin(vout), runes: new Map([[rune.etching, share]]) }));
}

/** The runestone of a message about etched runes. */
export function scriptOf({ edicts, mint, pointer }: RuneMessage, runes: readonly RunRune[]): Uint8Array {
  const idOf = (etching: string) => {
    const { block, tx } = runes.find((rune) => rune.etching === etching)!.id;
    return { block: asU128(block), tx };
  };
  return encipher({
    kind: 'runestone',
    edicts: edicts.map(({ rune, amount, output }) => ({ id: idOf(rune), amount: asU128(amount), output })),
    etching: null,
    mint: mint === null ? null : idOf(mint),
    pointer,
  });
}
