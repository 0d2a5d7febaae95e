import type pg from 'pg';
import { displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { Random } from '#test/builders/random.ts';
import type { Inscribed, RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { nameRival } from '#test/support/orders/name-rival.ts';
import type { OrderVerdict } from '#test/support/orders/order-verdict.ts';
import type { Customer, Customers } from './customers.ts';
import type { Purse } from './purse.ts';

/** Sats for a claim. They are more than the claim and its etching cost. */
const claimSats = 60_000;

/** Strangers who want names that customers etch. They claim the names, and etch them at any time. */
export class NameRivals {
  readonly #random: Random;
  readonly #chain: RegtestChain;
  readonly #purse: Purse;
  readonly #claims = new Map<string, Inscribed>();

  constructor(random: Random, chain: RegtestChain, purse: Purse) {
    this.#random = random;
    this.#chain = chain;
    this.#purse = purse;
  }

  /** Claims the name of one of the last orders that etch. */
  async claim({ all }: Customers): Promise<void> {
    const open = all.flatMap(({ rune }) => (rune === null || this.#claims.has(rune) ? [] : [rune])).slice(-4);
    const name = open[this.#random.below(Math.max(1, open.length))];
    const coin = name === undefined ? null : await this.#purse.take(claimSats);
    if (name === undefined || coin === null) return;
    const claim = await nameRival(this.#chain, name, coin);
    if (!(await this.#sent(claim.commit.hex))) return;
    this.#claims.set(name, claim);
    this.#purse.keep(claim.commit.coin(1));
  }

  /** Etches a claimed name, perhaps too early. Also claims names again whose claims a reorganisation took back. */
  async etch(): Promise<void> {
    const claims = [...this.#claims.values()].slice(-4);
    const claim = claims[this.#random.below(Math.max(1, claims.length))];
    if (claim === undefined) return;
    await this.#sent(claim.commit.hex);
    await this.#sent(claim.reveal.hex);
  }

  /** Sends a transaction to the node. False if the node refuses the transaction. */
  #sent(hex: string): Promise<boolean> {
    return this.#chain.rpc.call('sendrawtransaction', [hex, 0]).then(
      () => true,
      () => false,
    );
  }
}

/**
 * Differences between the states of etching orders and the transactions that etched their names, according to the
 * index.
 */
export async function nameFaults(
  pool: pg.Pool,
  all: readonly Customer[],
  verdicts: readonly OrderVerdict[],
): Promise<string[]> {
  const found: string[] = [];
  for (const [place, { id, rune }] of all.entries()) {
    if (rune === null) continue;
    const { rows } = await pool.query<{ txid: Buffer; is_its: boolean }>(
      `SELECT r.txid, EXISTS (SELECT FROM service.wallet_transactions AS t
                               WHERE t.txid = r.txid AND t.order_id = $2 AND t.kind = 'reveal') AS is_its
         FROM chain.runes AS r WHERE r.rune = $1::numeric`,
      [String(parseSpacedRune(rune)!.rune), id],
    );
    const etched = rows[0]?.is_its === true;
    const { state } = verdicts[place]!;
    const by = rows[0] === undefined ? 'no one' : displayHash(trustedTxid(rows[0].txid));
    if (etched !== (state === 'completed')) found.push(`${id} is ${state}, and ${rune} is etched by ${by}`);
  }
  return found;
}
