import type { NewCollection } from '#collections/collection/insert-collection.store.ts';
import type { SentRunePrice } from '#collections/reading/read-alt-prices.ts';
import { refuseFaults, unlessFaulty } from '#http/orders/refuse-faults.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { amountOf, beyondSupply, readRunes } from '#tokenpay/token-amount.ts';

/**
 * The price of a new collection in a rune. It consists of an amount that the rune allows, and of the account that
 * receives the amount: the account of the key that may change the collection. Throws the faults of a request,
 * `runes_not_indexed`, `derived_table_behind` and `index_missing`.
 *
 * @param keyHash SHA-256 of the key that may change the collection; null if only the operator may change it
 */
export async function runePriceOf(
  { pool, access = null }: Pick<AppDependencies, 'pool' | 'access'>,
  sent: SentRunePrice,
  keyHash: Buffer | null,
  { key, signal }: Asker,
): Promise<NonNullable<NewCollection['inRunes']>> {
  const asking = key.kind === 'known' && key.hash === keyHash?.toString('hex') ? key : null;
  const known = asking ?? (keyHash === null ? null : ((await access?.keyWithHash(keyHash)) ?? null));
  if (known === null) throw refuseFaults([{ message: keyNeeded, parameter: 'altPrices' }]);
  const [found = { rune: null, height: null }] = await readRunes(pool, [sent.rune], signal);
  const { rune, amount } = unlessFaulty(inField(amountOf(sent, found)));
  const unpayable = beyondSupply({ rune, amount });
  if (unpayable !== null) unlessFaulty(inField(unpayable));
  const name = formatSpacedRune(rune);
  return {
    shown: { rune: { amount: sent.shown, token: name } },
    price: {
      account: known.account,
      etching: rune.etching,
      rune: rune.rune,
      name,
      divisibility: rune.divisibility,
      amount,
    },
  };
}

const keyNeeded =
  'altPrices needs the key of an account, which receives the runes. Send a valid key in x-api-key, or its sha256 in apikeyhash. Ask the operator of this service for a key.';

/** Replaces the parameter names in faults by the names of fields of a collection. */
function inField<Given extends { readonly kind: string }>(given: Given): Given {
  if (!('faults' in given) || !Array.isArray(given.faults)) return given;
  const faults = given.faults.map((fault: { readonly parameter?: string }) => ({
    ...fault,
    ...(fault.parameter === undefined ? {} : { parameter: `altPrices.rune.${fault.parameter}` }),
  }));
  return { ...given, faults };
}
