import { reservedRune, runeLetters } from '#kernel/runes/rune.ts';
import { parseRuneId } from '#kernel/runes/rune-id.ts';
import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { Random } from '#test/builders/random.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { type Coin, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { runestoneScript } from '#test/builders/runestone-script.ts';
import { type OrderWish, runeWish } from './order-wishes.ts';
import type { Purse } from './purse.ts';

/** A rune that orders and strangers mint, until its cap is reached. */
export interface MintedRune {
  readonly name: string;
  readonly id: string;
}

/** Caps of the runes of a run. The first cap is never reached. Strangers use up the other caps. */
const caps = [10_000n, 25n, 25n, 25n];
/** Units of one mint. */
export const mintUnits = 5n;
const mintsMost = 4;
/** Sats for a mint of a stranger. They are more than the mint costs at any of its fees. */
const mintSats = 60_000;

/** Etches runes before the run begins. Ord assigns their names. */
export async function etchMintedRunes(chain: RegtestChain): Promise<MintedRune[]> {
  const runes: MintedRune[] = [];
  for (const cap of caps) {
    const terms = {
      amount: asU128(mintUnits),
      cap: asU128(cap),
      heightStart: null,
      heightEnd: null,
      offsetStart: null,
      offsetEnd: null,
    };
    const etching = runestoneScript({ etching: { ...plainEtching, terms } });
    const made = spending(await chain.coin(), etching, 10_000);
    const { height } = await chain.mine([made]);
    runes.push({ name: runeLetters(reservedRune(height, 1)), id: `${height}:1` });
  }
  return runes;
}

const spending = (coin: Coin, outputScript: Uint8Array, fee: number) =>
  transaction(
    [coin],
    [
      { value: coin.value - fee, to: coin.owner },
      { value: 0, outputScript },
    ],
  );

/** The request for some mints. */
export function mintWishOf(random: Random, number: number, runes: readonly MintedRune[]): OrderWish {
  const rune = runes[random.below(runes.length)]!;
  return runeWish(random, number, {
    kind: 'mints',
    path: '/runes/mint',
    contents: [],
    body: { rune: rune.name, numberOfMints: 1 + random.below(mintsMost) },
  });
}

/** A mint of a stranger, who may pay more than an order. */
export async function mintByStranger(
  random: Random,
  chain: RegtestChain,
  purse: Purse,
  runes: readonly MintedRune[],
): Promise<void> {
  const rune = runes[random.below(runes.length)]!;
  const coin = await purse.take(mintSats);
  if (coin === null) return;
  const made = spending(coin, runestoneScript({ mint: parseRuneId(rune.id)! }), 500 + random.below(20_000));
  await chain.rpc.call('sendrawtransaction', [made.hex, 0]).then(
    () => purse.keep(made.coin(0)),
    // the node has another transaction that spends the coin
    () => undefined,
  );
}
