import type pg from 'pg';
import { reservedRune, runeLetters } from '#kernel/runes/rune.ts';
import { parseRuneId } from '#kernel/runes/rune-id.ts';
import { plainEtching, type Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { Random } from '#test/builders/random.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { addressOf, type Coin, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import type { OrderVerdict } from '#test/support/orders/order-verdict.ts';
import type { Customer } from './customers.ts';
import { hexOf, type OrderWish, ownersOf, referralOf } from './order-wishes.ts';
import type { Purse } from './purse.ts';

/** A rune that orders and strangers mint, until its cap is reached. */
export interface MintedRune {
  readonly name: string;
  readonly id: string;
}

/** Caps of the runes of a run: the first one lasts, and strangers use the others up. */
const caps = [10_000n, 25n, 25n, 25n];
/** Units of one mint. */
const mintUnits = 5n;
const mintsMost = 4;
/** More than a mint of a stranger costs, at any of its fees. */
const mintSats = 60_000;

const stone = (more: Partial<Runestone>): Uint8Array =>
  encipher({ kind: 'runestone', edicts: [], etching: null, mint: null, pointer: null, ...more });

/** Etches runes whose names ord gives, before the run begins. */
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
    const etching = stone({ etching: { ...plainEtching, terms } });
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

/** The order of some mints. */
export function mintWishOf(random: Random, number: number, runes: readonly MintedRune[]): OrderWish {
  const [refund, home, receiver] = ownersOf(number);
  const rune = runes[random.below(runes.length)]!;
  return {
    kind: 'mints',
    path: '/runes/mint',
    contents: [],
    body: {
      rune: rune.name,
      numberOfMints: 1 + random.below(mintsMost),
      receiveAddress: addressOf(receiver!),
      refundAddress: addressOf(refund!),
      fee: random.unit() < 0.3 ? 6 : 2,
      ...referralOf(random),
    },
    receivers: [hexOf(receiver!)],
    refund: hexOf(refund!),
    home: hexOf(home!),
    allowed: null,
    rareSats: null,
    parent: null,
  };
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
  const made = spending(coin, stone({ mint: parseRuneId(rune.id)! }), 500 + random.below(20_000));
  await chain.rpc.call('sendrawtransaction', [made.hex, 0]).then(
    () => purse.keep(made.coin(0)),
    // the node has another transaction with the coin
    () => undefined,
  );
}

/** Mints that orders say were executed, and units that their receivers do not have; as the index has them. */
export async function mintFaults(
  pool: pg.Pool,
  all: readonly Customer[],
  verdicts: readonly OrderVerdict[],
): Promise<string[]> {
  const found: string[] = [];
  for (const [place, { id, kind, receivers }] of all.entries()) {
    if (kind !== 'mints') continue;
    const { rows } = await pool.query<{ units: string; executed: number; decided: number }>(
      `SELECT (SELECT coalesce(sum(b.amount), 0)::text FROM chain.rune_balances AS b
                WHERE b.script = $2 AND b.spent_height IS NULL) AS units,
              count(*) FILTER (WHERE m.is_executed)::int AS executed,
              count(*) FILTER (WHERE m.is_executed IS NOT NULL)::int AS decided
         FROM service.ordered_mints AS m JOIN service.wallet_transactions AS t USING (txid)
        WHERE m.order_id = $1 AND t.superseded_at IS NULL`,
      [id, Buffer.from(receivers[0]!, 'hex')],
    );
    const { units = '0', executed = 0, decided = 0 } = rows[0] ?? {};
    if (BigInt(units) !== BigInt(executed) * mintUnits)
      found.push(`${id} says that ${executed} mints were executed, and its receiver has ${units} units`);
    const { fate, state } = verdicts[place]!;
    if (state === 'completed' && fate.delivered.length !== decided)
      found.push(`${id} has ${decided} mints in blocks, and ${fate.delivered.length} outputs of them`);
  }
  return found;
}
