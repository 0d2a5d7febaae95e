import type { ShopWorld } from './shop-world.ts';

/** Base units that the account of a shop holds, by token name. */
export async function heldBy(
  { world, account: own }: ShopWorld,
  account = own,
): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await world.database.pool.query<{ name: string; amount: string }>(
    `SELECT coalesce(r.name, 'BTC') AS name, b.amount::text FROM service.token_balances AS b
       LEFT JOIN service.token_runes AS r USING (asset) WHERE b.account = $1`,
    [account],
  );
  return new Map(rows.map(({ name, amount }) => [name, BigInt(amount)]));
}

/** How some work changes the balances, in base units. */
export async function changesOf(shop: ShopWorld, work: () => Promise<void>): Promise<Record<string, bigint>> {
  const before = await heldBy(shop);
  await work();
  const after = await heldBy(shop);
  return Object.fromEntries(
    [...after].flatMap(([name, amount]) => {
      const change = amount - (before.get(name) ?? 0n);
      return change === 0n ? [] : [[name, change]];
    }),
  );
}

/** A new order, and the scripts of its deposit addresses. */
export type OpenShopOrder = Awaited<ReturnType<typeof orderedAt>>;

/**
 * Makes an order with a fee charge of 10,000 sats.
 *
 * @param headers name another key than that of the shop
 */
export async function orderedAt(
  shop: ShopWorld,
  token: string,
  amount: number | string,
  more: object = {},
  headers: Record<string, string> = {},
) {
  // the number is sent exactly as written, whatever its size
  const fields = JSON.stringify({ token, additionalFee: 1_000, ...more }).slice(1);
  const { status, body } = await shop.post(`{"amount":${amount},${fields}`, headers);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return {
    ...body,
    feeScript: await shop.scriptOf(body.feeCharge.address),
    tokenScript: await shop.scriptOf(body.tokenCharge.address),
  };
}
